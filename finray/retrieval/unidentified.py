"""Filings of which no company could be read: found by the names that stand in their text.

A company of the question is looked for in those filings alone, so an index that has none pays nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from finray.core.query import Span
from finray.index.reader import IndexReader
from finray.question.companies import CompanyCatalog, Mentions, core_name

_PAGES = 100
"""Pages of unidentified filings that are read for a name, those that BM25 finds first."""
_OWN_SHARE = 0.1
"""Share of a filing's pages that say a name, from which it is taken for its company's: reports name their registrant
over and over, others once."""
_OWN_PAGES = 20


class UnidentifiedFilings:
    """The filings of an index whose company is unknown to ``catalog``."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog) -> None:
        self._reader = reader
        self._catalog = catalog
        self._ids = [i for i, key in catalog.company_of_filing.items() if not catalog.companies[key].names]
        self._n_pages = reader.row_counts("pages") if self._ids else {}

    def naming(self, names: Iterable[str]) -> Mapping[str, int]:
        """Filing id -> pages that say one of ``names`` (at most 100 pages are read)."""
        cores = dict.fromkeys(core for name in names if (core := core_name(name)))
        found: Counter[str] = Counter()
        if not self._ids or not cores:
            return found
        hits = self._reader.search_pages_text(" ".join(" ".join(core) for core in cores), self._ids, _PAGES)
        pages = set(zip(hits["filing_id"].to_pylist(), hits["page"].to_pylist(), strict=True))
        said = re.compile("|".join(rf"\b{_spelled(core)}\b" for core in cores), re.IGNORECASE)
        for (filing_id, _), text in self._reader.page_texts(pages).items():
            found[filing_id] += said.search(text) is not None
        return +found

    def own(self, names: Iterable[str]) -> list[str]:
        """The filings that say one of ``names`` all over: they are most likely that company's."""
        return sorted(i for i, pages in self.naming(names).items() if pages >= self._own_pages(i))

    def known_after_all(self, mentions: Mentions, question: str) -> Mentions:
        """``mentions`` with the names that the catalog does not hold but that unidentified filings repeat all over:
        each of these filings stands for a company."""
        known = dict.fromkeys(mentions.known)
        unknown, spans = [], list(mentions.spans)
        for name in mentions.unknown if self._ids else ():
            own = self.own([name])
            known |= dict.fromkeys(self._catalog.company_of_filing[i] for i in own)
            unknown += [] if own else [name]
            start = question.find(name)
            spans += [Span("company", start, start + len(name), " ".join(own))] if own and start >= 0 else []
        if not self._ids:
            return mentions
        spans.sort(key=lambda span: span.start)
        return replace(mentions, known=tuple(known), unknown=tuple(unknown), spans=tuple(spans))

    def _own_pages(self, filing_id: str) -> float:
        return min(_OWN_PAGES, max(1.0, _OWN_SHARE * self._n_pages.get(filing_id, 1)))


def _spelled(core: Sequence[str]) -> str:
    return r"[\W_]{0,3}".join(re.escape(word) for word in core)

"""Finds filings without a readable company by the names in their text.

Only these filings are searched, so an index without any pays nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from finray.core.query import Span
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog, Mentions
from finray.question.companies.company_groups import core_name
from finray.retrieval.question_names import in_any_spacing

_PAGES = 100
"""Pages of unidentified filings that are read for a name: those with the highest BM25."""
_OWN_SHARE = 0.1
"""Share of a filing's pages that name its company: reports repeat their registrant's name, but not those of others."""
_OWN_PAGES = 20


class UnidentifiedFilings:
    """The filings of an index that have no company in ``catalog``."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog) -> None:
        self._reader = reader
        self._catalog = catalog
        self._ids = [
            filing_id for filing_id, key in catalog.company_of_filing.items() if not catalog.companies[key].names
        ]
        self._n_pages = reader.row_counts("pages") if self._ids else {}

    def naming(self, names: Iterable[str]) -> Mapping[str, int]:
        """Filing id -> number of pages with one of ``names``. Reads at most 100 pages."""
        cores = dict.fromkeys(core for name in names if (core := core_name(name)))
        found: Counter[str] = Counter()
        if not self._ids or not cores:
            return found
        hits = self._reader.search_pages_text(" ".join(" ".join(core) for core in cores), self._ids, _PAGES)
        pages = set(zip(hits["filing_id"].to_pylist(), hits["page"].to_pylist(), strict=True))
        pattern = re.compile("|".join(map(in_any_spacing, cores)), re.IGNORECASE)
        for (filing_id, _), text in self._reader.page_texts(pages).items():
            found[filing_id] += pattern.search(text) is not None
        return +found

    def own(self, names: Iterable[str]) -> list[str]:
        """The filings with one of ``names`` on many pages: most likely they are that company's own."""
        return sorted(
            filing_id for filing_id, pages in self.naming(names).items() if pages >= self._own_pages(filing_id)
        )

    def with_unidentified(self, mentions: Mentions, question: str) -> Mentions:
        """``mentions`` with unknown names moved to the known ones if unidentified filings repeat them on many pages:
        each such filing is a company of the catalog."""
        if not self._ids:
            return mentions
        known = dict.fromkeys(mentions.known)
        unknown, spans = [], list(mentions.spans)
        for name in mentions.unknown:
            own = self.own([name])
            if not own:
                unknown.append(name)
                continue
            known |= dict.fromkeys(self._catalog.company_of_filing[filing_id] for filing_id in own)
            start = question.find(name)
            if start >= 0:
                spans.append(Span("company", start, start + len(name), " ".join(own)))
        spans.sort(key=lambda span: span.start)
        return replace(mentions, known=tuple(known), unknown=tuple(unknown), spans=tuple(spans))

    def _own_pages(self, filing_id: str) -> float:
        return min(_OWN_PAGES, max(1.0, _OWN_SHARE * self._n_pages.get(filing_id, 1)))

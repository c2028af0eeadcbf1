"""Retrieval from a part of the index: filings of given companies, forms and fiscal years."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.roles import DocumentRetriever
from finray.core.types import Document, Filing
from finray.index.reader import IndexReader


@dataclass(frozen=True, slots=True)
class FilingFilter:
    """A filing passes when it is of one of the ``companies`` (name, alias, ticker or CIK; letter case does not count),
    of one of the ``forms`` and of one of the ``fiscal_years``; an empty one lets everything pass."""

    companies: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    fiscal_years: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.companies or self.forms or self.fiscal_years)

    def passes(self, filing: Filing) -> bool:
        return self.test()(filing)

    def test(self) -> Callable[[Filing], bool]:
        """``passes`` for many filings: what is asked for is folded once."""
        years = frozenset(self.fiscal_years)
        forms = frozenset(form.casefold() for form in self.forms)
        companies = frozenset(key for company in self.companies for key in asked_as(company))

        def passes(filing: Filing) -> bool:
            if years and filing.fiscal_year not in years:
                return False
            if forms and filing.form.casefold() not in forms:
                return False
            return not self.companies or not companies.isdisjoint(known_as(filing))

        return passes


class NarrowedDocuments:
    """What ``inner`` proposes, as far as it passes ``narrowed``: the best ``k`` of those."""

    def __init__(self, inner: DocumentRetriever, reader: IndexReader, narrowed: FilingFilter) -> None:
        self._inner = inner
        self._narrowed = narrowed
        self._filings = len(reader.revisions)

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        # Its own journal: what is said of filings that do not pass would only confuse.
        proposed = await self._inner.documents(query, self._filings, Journal())
        passes = self._narrowed.test()
        chosen = list(itertools.islice((document for document in proposed if passes(document.filing)), k))
        for rank, document in enumerate(chosen, start=1):
            journal.note(
                f"document {rank}: {document.filing.doc_name} {document.score:.3f}: {', '.join(document.reasons)}"
            )
        return chosen


def known_as(filing: Filing) -> frozenset[str]:
    """What the company of ``filing`` may be asked for by: see :func:`asked_as`."""
    names = (filing.company, filing.ticker, *filing.aliases)
    cik = (_as_cik(filing.cik),) if filing.cik is not None else ()
    return frozenset((*(name.casefold() for name in names if name), *cik))


def asked_as(company: str) -> tuple[str, ...]:
    """What a filing of ``company`` (name, alias, ticker or CIK; letter case does not count) is known as."""
    folded = company.strip().casefold()
    return (folded, _as_cik(folded)) if folded.isdecimal() else (folded,)


def _as_cik(number: str) -> str:
    return f"\0{number.lstrip('0')}"  # no name begins like that

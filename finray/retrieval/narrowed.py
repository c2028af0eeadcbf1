"""Retrieval from a part of the index: filings of given companies, forms and fiscal years."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.roles import DocumentRetriever
from finray.core.types import Document, Filing

if TYPE_CHECKING:  # the client, which needs FilingFilter alone, loads no Lance
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
        if self.fiscal_years and filing.fiscal_year not in self.fiscal_years:
            return False
        if self.forms and filing.form.casefold() not in {form.casefold() for form in self.forms}:
            return False
        return not self.companies or any(_is_of(filing, company) for company in self.companies)


class NarrowedDocuments:
    """What ``inner`` proposes, as far as it passes ``narrowed``: the best ``k`` of those."""

    def __init__(self, inner: DocumentRetriever, reader: IndexReader, narrowed: FilingFilter) -> None:
        self._inner = inner
        self._narrowed = narrowed
        self._filings = len(reader.revisions)

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        # Its own journal: what is said of filings that do not pass would only confuse.
        proposed = await self._inner.documents(query, self._filings, Journal())
        chosen = [document for document in proposed if self._narrowed.passes(document.filing)][:k]
        for rank, document in enumerate(chosen, start=1):
            journal.note(
                f"document {rank}: {document.filing.doc_name} {document.score:.3f}: {', '.join(document.reasons)}"
            )
        return chosen


def _is_of(filing: Filing, company: str) -> bool:
    wanted = company.strip().casefold()
    names = (filing.company, filing.ticker or "", *filing.aliases)
    if any(wanted == name.casefold() for name in names):
        return True
    return wanted.isdecimal() and filing.cik is not None and wanted.lstrip("0") == filing.cik.lstrip("0")

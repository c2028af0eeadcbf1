"""Company and form of the filings that questions and predictions name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from finray.core.types import Filing, Prediction
from finray.question.companies import CompanyCatalog


class KnownFilings:
    """Filings by ``doc_name`` and by ``filing_id``; those of one registrant share a company, whatever its filings
    called it over the years. Build it from ``IndexReader.filings()`` where there is an index."""

    def __init__(self, filings: Iterable[Filing]) -> None:
        by_id = {filing.filing_id: filing for filing in filings}
        catalog = CompanyCatalog([filing for filing in by_id.values() if filing.company])
        self._companies = {
            filing_id: catalog.companies[key].name for filing_id, key in catalog.company_of_filing.items()
        }
        self._filings: dict[str, Filing] = {}
        for filing in by_id.values():
            self._filings.setdefault(filing.doc_name, filing)
        self._filings |= by_id

    @classmethod
    def of_predictions(cls, predictions: Iterable[Prediction]) -> Self:
        """What predictions tell of the filings they retrieved: a gold filing that nobody retrieved stays unknown."""
        return cls(
            Filing(found.filing_id, found.doc_name, "", "", found.company, found.form)
            for prediction in predictions
            for found in prediction.documents
        )

    def filing(self, name: str) -> Filing | None:
        return self._filings.get(name)

    def company(self, name: str) -> str | None:
        """The company that filed ``name``, as its newest filing calls it; None where that is not known."""
        filing = self._filings.get(name)
        return None if filing is None else self._companies.get(filing.filing_id)

    def form(self, name: str) -> str | None:
        filing = self._filings.get(name)
        return None if filing is None else filing.form or None

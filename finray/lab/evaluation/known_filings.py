"""Looks up company and form of the filings that questions and predictions name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from finray.core.filing import Filing
from finray.core.predictions import Prediction
from finray.question.companies.catalog import CompanyCatalog


class KnownFilings:
    """Filings by ``doc_name`` and by ``filing_id``. Those of one registrant share a company even if its name changed.

    Build it from ``IndexReader.filings()`` if there is an index.
    """

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
        """The filings that ``predictions`` retrieved; other gold filings stay unknown."""
        return cls(
            Filing(found.filing_id, found.doc_name, "", "", found.company, found.form)
            for prediction in predictions
            for found in prediction.documents
        )

    def filing(self, name: str) -> Filing | None:
        return self._filings.get(name)

    def company(self, name: str) -> str | None:
        """The company that filed ``name``, by its name in the newest filing; None if unknown."""
        filing = self._filings.get(name)
        return None if filing is None else self._companies.get(filing.filing_id)

    def form(self, name: str) -> str | None:
        filing = self._filings.get(name)
        return None if filing is None else filing.form or None

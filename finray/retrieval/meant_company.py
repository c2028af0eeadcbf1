"""Settles which company a question is about if it names none in the catalog."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog, Mentions
from finray.retrieval.company_evidence import CompanyEvidence
from finray.retrieval.company_model import CompanyModel, shipped_company_model
from finray.retrieval.unidentified import UnidentifiedFilings

_KEPT = 64


class MeantCompany:
    """Looks first in the filings without a readable company, then in the text of all filings."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog, model: CompanyModel | None = None) -> None:
        """``model`` defaults to the one that comes with finray."""
        self._unidentified = UnidentifiedFilings(reader, catalog)
        self._evidence = CompanyEvidence(reader, catalog)
        self._model = model
        # Roles read a question several times.
        self.company = lru_cache(_KEPT)(self._company)

    def settled(self, mentions: Mentions, text: str) -> Mentions:
        """``mentions`` of ``text``; if they know no company, with the one that ``text`` means by a brand, a subsidiary,
        a former name or a description. Those words stay words of the question, because filings use them."""
        mentions = self._unidentified.with_unidentified(mentions, text)
        if mentions.known:
            return mentions
        company = self.company(text, mentions.unknown)
        return mentions if company is None else replace(mentions, known=(company,), unknown=())

    def _company(self, text: str, unknown: tuple[str, ...]) -> str | None:
        """The company that ``text`` means with enough certainty; ``unknown`` are its names that the catalog lacks."""
        found = self._evidence.candidates(text, unknown)
        if not found.hints_at_one:  # without a name, a likeness or a role ("the buyer of …") all filings compete
            return None
        model = self._model or shipped_company_model()
        company, probability = model.choose(found)
        return company if probability >= model.threshold else None

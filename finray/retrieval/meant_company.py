"""Settles which company a question is about if it names none that the catalog knows."""

from __future__ import annotations

from dataclasses import replace

from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog, Mentions
from finray.retrieval.company_evidence import CompanyEvidence
from finray.retrieval.company_model import CompanyModel, shipped_company_model
from finray.retrieval.unidentified import UnidentifiedFilings

_KEPT = 64


class MeantCompany:
    """Asks first the filings without a readable company, then the text of all filings."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog, model: CompanyModel | None = None) -> None:
        """``model`` is by default the one that comes with finray."""
        self._unidentified = UnidentifiedFilings(reader, catalog)
        self._evidence = CompanyEvidence(reader, catalog)
        self._model = model
        self._kept: dict[str, str | None] = {}

    def settled(self, mentions: Mentions, text: str) -> Mentions:
        """``mentions`` of ``text``, with the company that the filings show to be meant if they know none: a brand, a
        subsidiary, a former name, a description. Its words stay words of the question: filings use them."""
        mentions = self._unidentified.with_unidentified(mentions, text)
        if mentions.known:
            return mentions
        company = self.company(text, mentions.unknown)
        return mentions if company is None else replace(mentions, known=(company,), unknown=())

    def company(self, text: str, unknown: tuple[str, ...]) -> str | None:
        """The company that is surely enough meant. Roles read a question several times, so the last ones are kept."""
        if text not in self._kept:
            found = self._evidence.candidates(text, unknown)
            model = self._model or shipped_company_model()
            # Without a name, a likeness or a role ("the buyer of …") no one company is meant: all filings compete.
            company, probability = model.choose(found) if found.hints_at_one else ("", 0.0)
            if len(self._kept) >= _KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[text] = company if probability >= model.threshold else None
        return self._kept[text]

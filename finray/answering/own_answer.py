"""The answer that a retrieval method wrote itself (``loop.answerer=method``)."""

from __future__ import annotations

from dataclasses import replace

from finray.answering.grounding import ungrounded_text
from finray.core.errors import SettingsError
from finray.core.journal import Journal
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import AnsweredPassages, Curation


class OwnAnswerer:
    """Passes on the method's answer, and checks whether the evidence prints its numbers and quotations."""

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        """Raises SettingsError if the passages come without an answer."""
        if not isinstance(curation.kept, AnsweredPassages):
            raise SettingsError(
                "loop.answerer = 'method', but these passages are not those of a method that answers (retrieval.oracle "
                "= 'page' replaces them); choose another answerer"
            )
        answer = curation.kept.answer
        if answer.status != "answered":
            return answer
        absent = ungrounded_text(answer.text, [passage.text for passage in answer.evidence], query.question)
        if absent:
            journal.note(f"answer: not in its evidence: {'; '.join(absent[:5])}")
        return replace(answer, grounded=not absent)

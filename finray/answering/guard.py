"""Guards an answerer: refuses what the index lacks before any model call, and adds the nearest data to refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from finray.answering.closest import closest_passage
from finray.answering.confidence import ConfidenceModel, signals
from finray.answering.presence import Absence, absence, near_rows
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.roles import Answerer, Curation
from finray.core.types import Answer
from finray.index.facts import FilingFacts
from finray.models.encoder import Encoder


class GuardedAnswerer:
    """Asks ``inner`` only about companies and periods in the index.

    With an ``encoder``, quotes the closest passage about the subject if ``inner`` refuses. With ``confidence``, adds
    the probability that the answer is right.
    """

    def __init__(
        self,
        inner: Answerer,
        facts: FilingFacts,
        encoder: Encoder | None = None,
        confidence: ConfidenceModel | None = None,
    ) -> None:
        self._inner = inner
        self._facts = facts
        self._encoder = encoder
        self._confidence = confidence

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        passages = curation.kept
        absent = absence(query, passages, self._facts)
        if absent is not None:
            journal.note(f"answer: the index lacks {'; '.join(absent.missing)}")
            return refusal(absent)
        answer = await self._answer(query, curation, journal)
        if answer.status == "answered" and self._confidence is not None:
            found = signals(query, answer, passages, self._facts)
            return replace(answer, confidence=round(self._confidence.probability(found), 3))
        return answer

    async def _answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        answer = await self._inner.answer(query, curation, journal)
        if answer.status != "unanswerable":
            return answer
        if self._encoder is not None:
            quoted = closest_passage(query, curation.kept, self._facts, self._encoder)
            if quoted is not None:
                journal.note(f"answer: {answer.text} The closest passage is quoted instead.")
                return replace(quoted, missing=answer.missing)
        nearest = near_rows(query, curation.kept, self._facts)
        return replace(answer, text=_with_nearest(answer.text, nearest), nearest=nearest)


def refusal(absent: Absence) -> Answer:
    """The answer that names what is missing and the nearest thing in the index."""
    text = _with_nearest(f"Not in the index: {'; '.join(absent.missing)}.", absent.nearest)
    return Answer(text, "unanswerable", missing=absent.missing, nearest=absent.nearest)


def _with_nearest(text: str, nearest: Sequence[str]) -> str:
    return f"{text} Nearest: {'; '.join(nearest)}." if nearest else text

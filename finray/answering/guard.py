"""Guards an answerer: refuses what the index lacks before any model call, and adds the nearest data to refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from finray.answering.cells.operands import label_words
from finray.answering.cells.page_cells import is_printed_dash
from finray.answering.confidence import ConfidenceModel, signals
from finray.answering.part_names import has_part
from finray.answering.presence import Absence, absence, near_rows
from finray.answering.subject import with_subject
from finray.answering.table_reader.second_opinion import SecondOpinion
from finray.answering.table_reader.table_answerer import TableAnswerer, TableReading
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.query import OwnName, Query
from finray.core.roles import Answerer, Curation
from finray.index.reading.facts import FilingFacts
from finray.question.measures.phrase import phrase_of

_LEAST_SURE_OF_PART = 0.6
"""Least confidence in a sentence for a figure of a brand, a subsidiary or a segment (benchmarks/absent_companies.py,
develop: every figure of another company that was left was quoted with less)."""
_PROOF = 60
_PRIMARY = frozenset({"income", "balance", "cash_flow"})


class AnswerSource(Protocol):
    """Another way to an answer, with a probability of its own."""

    def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer | None: ...


class GuardedAnswerer:
    """Asks ``inner`` only about companies and periods in the index, unless a model has judged the evidence.

    With ``confidence``, adds the probability that the answer is right, given what ``tables`` read, and refuses a
    computed figure with less than ``least``. If there is no figure by then, asks ``tables`` and then ``others``, whose
    answers have their own probability.
    """

    def __init__(
        self,
        inner: Answerer,
        facts: FilingFacts,
        confidence: ConfidenceModel | None = None,
        least: float = 0.0,
        tables: TableAnswerer | None = None,
        others: Sequence[AnswerSource] = (),
    ) -> None:
        self._inner = inner
        self._facts = facts
        self._confidence = confidence
        self._least = least
        self._tables = tables
        self._others = others

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        # 1. What the index lacks is refused before any model call.
        absent = None if query.anywhere else absence(query, curation.kept, self._facts)
        if absent is not None:
            journal.note(f"answer: the index lacks {'; '.join(absent.missing)}")
            return _refusal(absent)
        # 2. The answer, checked by a reading of the tables; if it has no figure, one from elsewhere.
        answer = await self._inner_answer(query, curation, journal)
        reading = None
        if self._tables is not None and wants_opinion(answer, query):
            reading = self._tables.read(query, curation, journal)
        answer = self._rated(answer, query, curation, journal, reading)
        if answer.value is None and not answer.settled:
            answer = self._further(query, curation, journal, reading) or answer
        # 3. Whose it is, and of when.
        elsewhere = answer.value is not None and not query.anywhere and not has_part(query, answer)
        if elsewhere or _is_loose(query, answer):
            part = next(own.name for own in query.own_names if own.relation == "part")
            journal.note(f"answer: {answer.text!r} is not surely about {part}")
            answer = Answer.refused(f"a figure of {part} for {query.worded!r}")
        return with_subject(self._with_proof(answer, query), self._facts)

    def _with_proof(self, answer: Answer, query: Query) -> Answer:
        """``answer`` with the passages that say whose the names in the question are."""
        if answer.status != "answered" or query.anywhere:
            return answer
        proofs = (
            next((p for p in self._facts.passages_of(own.filing_id, own.page) if _holds(p, own)), None)
            for own in query.own_names
            if own.sentence
        )
        further = (p for p in proofs if p is not None and p not in answer.evidence)
        return replace(answer, evidence=(*answer.evidence, *dict.fromkeys(further)))

    def _further(
        self, query: Query, curation: Curation, journal: Journal, reading: TableReading | None
    ) -> Answer | None:
        """A figure from another source than ``inner``."""
        if self._tables is not None:
            reading = reading or self._tables.read(query, curation, journal)
            figure = self._tables.answer(reading, query, curation) if reading is not None else None
            if figure is not None:
                return figure
        figures = (other.answer(query, curation, journal) for other in self._others)
        return next((figure for figure in figures if figure is not None), None)

    def _rated(
        self, answer: Answer, query: Query, curation: Curation, journal: Journal, reading: TableReading | None
    ) -> Answer:
        """``answer`` with its confidence, or the refusal of an unsure figure."""
        if answer.status != "answered" or self._confidence is None:
            return answer
        dash = _is_dash(answer)
        if answer.settled or (dash and all(cell.fit >= 1 for cell in answer.operands)):
            return answer  # the model was fitted to figures; what the row prints is not in doubt
        found = signals(query, answer, curation.kept, self._facts, opinion_on(answer, query, reading))
        confidence = round(self._confidence.probability(found), 3)
        if not answer.operands or confidence >= self._least:  # a quotation speaks for itself
            return replace(answer, confidence=confidence)
        journal.note(f"answer: {answer.text!r} has a confidence of {confidence}, less than {self._least}")
        return replace(_unsure(answer), settled=dash)  # a figure of another year or row would be wrong

    async def _inner_answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        """The answer of ``inner``; a refusal also names the nearest rows."""
        answer = await self._inner.answer(query, curation, journal)
        if answer.status != "unanswerable" or answer.nearest or answer.settled:
            return answer
        nearest = near_rows(query, curation.kept, self._facts)
        return replace(answer, text=_with_nearest(answer.text, nearest), nearest=nearest)


def _holds(passage: Passage, own: OwnName) -> bool:
    """Whether ``passage`` has the end of the sentence that proves whose a name is: a chunk may begin within it."""
    return own.sentence[-_PROOF:] in " ".join(passage.text.split())


def _is_loose(query: Query, answer: Answer) -> bool:
    """Whether ``answer`` only quotes a sentence that names the part of a company which ``query`` asks a metric of, and
    is not sure: such sentences mostly tell of something else."""
    unsure = answer.confidence is not None and answer.confidence < _LEAST_SURE_OF_PART
    asked = bool(query.part_names and query.metrics) and "cause" not in query.intents
    return asked and answer.status == "answered" and not answer.operands and unsure


def wants_opinion(answer: Answer, query: Query) -> bool:
    """Whether to check a computed figure by reading the tables. XBRL tags leave little to misread, and the model never
    takes a question to mean six months less three."""
    if any(is_printed_dash(cell.text) for cell in answer.operands):
        return False  # readings are of figures
    if _is_labeled(answer, query) or (not query.unexplained and is_named_formula(answer)):
        return False
    untagged = any(cell.concept is None for cell in answer.operands)
    return answer.value is not None and untagged and not _spans_differ(answer)


def is_named_formula(answer: Answer) -> bool:
    """Whether ``answer`` was computed from several cells, all of them of the rows of the statements that define a named
    metric. Readings of tables combine rows by their words, and most formulas are not among them."""
    cells = answer.operands
    return len(cells) > 1 and all(cell.fit >= 1 and cell.statement in _PRIMARY for cell in cells)


def _is_labeled(answer: Answer, query: Query) -> bool:
    """Whether ``answer`` is a row labeled by just the words of ``query``, which has a metric's usual name too: readings
    of tables look for that."""
    phrase = phrase_of(query.own_words, query.names) if query.own_words and len(answer.operands) == 1 else None
    return phrase is not None and label_words(answer.operands[0].label) == frozenset(phrase.words)


def _is_dash(answer: Answer) -> bool:
    """Whether ``answer`` says that the filing prints a dash."""
    return len(answer.operands) == 1 and is_printed_dash(answer.operands[0].text)


def _spans_differ(answer: Answer) -> bool:
    """Whether operands from rows with one label cover periods of different lengths."""
    spans = {(cell.label, cell.months) for cell in answer.operands if cell.months}
    return len(spans) > len({label for label, _ in spans})


def opinion_on(answer: Answer, query: Query, reading: TableReading | None) -> SecondOpinion | None:
    """The opinion of ``reading`` on a figure computed from cells; None for other answers."""
    if reading is None or answer.value is None or not wants_opinion(answer, query):
        return None
    return reading.opinion(answer.value, query)


def _unsure(answer: Answer) -> Answer:
    """The refusal of a figure that is likely wrong; it shows what was read, with its page."""
    cells = dict.fromkeys(
        f"{cell.label}: {cell.text} ({cell.doc_name}, p. {cell.page + 1})" for cell in answer.operands if cell.label
    )
    text = "No figure is sure enough to be the answer."
    return Answer(_with_nearest(text, tuple(cells)), "unanswerable", nearest=tuple(cells), evidence=answer.evidence)


def _refusal(absent: Absence) -> Answer:
    """The answer that names what is missing and the nearest thing in the index."""
    text = _with_nearest(f"Not in the index: {'; '.join(absent.missing)}.", absent.nearest)
    return Answer(text, "unanswerable", missing=absent.missing, nearest=absent.nearest)


def _with_nearest(text: str, nearest: Sequence[str]) -> str:
    return f"{text} Nearest: {'; '.join(nearest)}." if nearest else text

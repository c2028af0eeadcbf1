"""Fits ``finray.answering.closest.model``: a conditional logit over the rows and sentences of a question's pages, then
a logistic regression for whether the chosen ones hold evidence, both with an L2 penalty.

The threshold is the lowest probability above which a share RIGHT of the choices hold evidence, as measured by models
that were fitted without the question's company. Questions that get an answer teach only the conditional logit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.answering.choice_model import Fitted, probability
from finray.answering.closest.features import ClosestCandidates, shown_pieces
from finray.answering.closest.model import MARGIN, MOST, SIGNALS, question_signals, signals
from finray.answering.closest.rows import ClosestRows
from finray.answering.presence import absence
from finray.core.arrays import Floats
from finray.core.bootstrap import estimate
from finray.core.questions import GoldEvidence, Question
from finray.engine import Engine
from finray.evidence.candidates import Prose
from finray.index.reading.facts import FilingFacts
from finray.lab.evaluation.report import shown
from finray.lab.training.answers.recorded import Recorded, recorded_answers
from finray.lab.training.answers.sentence_data import overlap
from finray.lab.training.choices import least_with_share
from finray.lab.training.group_folds import folds_by_group
from finray.lab.training.logits import conditional_logit, logistic, penalties
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.question.companies.catalog import CompanyCatalog

RIGHT = 0.6
_ENOUGH = 0.5
"""Share of a row's figures that the gold quotation has, or of word triples that both share."""
_DIGITS = re.compile(r"\d[\d,.]*\d|\d")


@dataclass(frozen=True, slots=True)
class ClosestQuestion:
    """The rows that compete, what is asked (``question_signals``), and which rows hold the evidence, bool [pieces].
    ``refused``: the question gets no other answer. Folds do not split a ``group``."""

    qid: str
    group: str
    found: ClosestCandidates
    asked: Floats
    gold: npt.NDArray[np.bool_]
    refused: bool


@dataclass(frozen=True, slots=True)
class HeldOutRows:
    """The choice of a model that was fitted without the question's company."""

    qid: str
    probability: float
    right: bool


async def closest_questions(
    questions: Sequence[Question], engine: Engine, source: str, progress: Progress
) -> list[ClosestQuestion]:
    """Training data of each question with pages of its period; groups are companies. ``engine`` must not show rows
    itself (``loop.closest = false``)."""
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    rows = ClosestRows(facts)
    return [
        each
        async for recorded in recorded_answers(questions, engine, progress)
        if (each := _question(recorded, rows, facts, source)) is not None
    ]


def _question(recorded: Recorded, rows: ClosestRows, facts: FilingFacts, source: str) -> ClosestQuestion | None:
    question, query, curation = recorded.question, recorded.query, recorded.curation
    if absence(query, curation.kept, facts) is not None:
        return None
    found = rows.candidates(query, curation)
    if not found.pieces:
        return None
    gold = [any(_holds(each, found, number) for each in question.evidence) for number in range(len(found.pieces))]
    return ClosestQuestion(
        f"{source}:{question.qid}",
        recorded.group,
        found,
        question_signals(query),
        np.asarray(gold, dtype=bool),
        recorded.prediction.status == "unanswerable",
    )


def _holds(gold: GoldEvidence, found: ClosestCandidates, number: int) -> bool:
    """Whether a row is on a gold page, and its figures or words are in the quotation, if there is one."""
    page = found.pages[found.pieces[number][0]]
    if (page.filing.doc_name, page.page.page) not in gold.places:
        return False
    if not gold.text:
        return True
    if isinstance(found.part(number), Prose):
        return overlap(gold.text, found.text(number)) >= _ENOUGH
    quoted, printed = set(_DIGITS.findall(gold.text)), set(_DIGITS.findall(found.text(number)))
    return len(printed & quoted) >= _ENOUGH * len(printed) and bool(printed & quoted)


def fit_closest(questions: Sequence[ClosestQuestion], l2: float) -> Fitted:
    """Fit to ``questions``. Raises ValueError without one whose evidence is among its rows."""
    tests = held_out_rows(questions, l2)
    weights = _fit_choice(questions, l2)
    answers = _fit_answers(questions, weights, l2)
    threshold = least_with_share(((test.probability, test.right) for test in tests), RIGHT)
    return Fitted(weights, answers, {"threshold": threshold})


def held_out_rows(questions: Sequence[ClosestQuestion], l2: float) -> list[HeldOutRows]:
    """The choice for each question that is refused."""
    result = []
    for rest, own in folds_by_group(questions, lambda question: question.group):
        weights = _fit_choice(rest, l2)
        answers = _fit_answers(rest, weights, l2)
        for question in (question for question in own if question.refused):
            chosen, row = _chosen(question, weights)
            result.append(HeldOutRows(question.qid, probability(row, answers), bool(question.gold[chosen].any())))
    return result


def _chosen(question: ClosestQuestion, weights: Floats) -> tuple[list[int], Floats]:
    scores = np.asarray(question.found.features @ weights)
    chosen = shown_pieces(question.found, scores, MOST, MARGIN)
    return chosen, signals(question.found, scores, chosen, question.asked)


def _fit_choice(questions: Sequence[ClosestQuestion], l2: float) -> Floats:
    return conditional_logit([(q.found.features, q.gold.astype(np.float64)) for q in questions if q.gold.any()], l2)


def _fit_answers(questions: Sequence[ClosestQuestion], weights: Floats, l2: float) -> Floats:
    chosen = [(question, *_chosen(question, weights)) for question in questions if question.refused]
    right = np.asarray([question.gold[rows].any() for question, rows, _ in chosen], dtype=np.float64)
    return logistic(np.stack([row for _, _, row in chosen]), right, penalties(SIGNALS, l2))


def measured(tests: Sequence[HeldOutRows], threshold: float) -> dict[str, str | int]:
    """How many refused questions are shown rows, and how often these hold evidence."""
    sure = [test for test in tests if test.probability >= threshold]
    return {
        "refused": len(tests),
        "hold evidence": shown(estimate([float(test.right) for test in tests])),
        "shown": len(sure),
        "of these hold evidence": shown(estimate([float(test.right) for test in sure])),
    }

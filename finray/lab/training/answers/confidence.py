"""Fits ``finray.answering.confidence``: logistic regression with an L2 penalty, tested on held-out companies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from finray.answering.confidence import SIGNALS, ConfidenceModel, signals
from finray.answering.guard import opinion_on, wants_opinion
from finray.answering.table_reader.table_answerer import TableAnswerer
from finray.core.arrays import Floats
from finray.core.journal import Journal
from finray.core.questions import Question
from finray.engine import Engine
from finray.index.reading.facts import FilingFacts
from finray.lab.evaluation.calibration import was_right
from finray.lab.training.answers.recorded import recorded_answers
from finray.lab.training.group_folds import folds_by_group
from finray.lab.training.logits import penalties
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.question.companies.catalog import CompanyCatalog


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """``signals`` is float64 [len(SIGNALS)]. Folds do not split a ``group``: the companies of the question."""

    qid: str
    group: str
    signals: Floats
    right: bool


async def graded_answers(
    questions: Sequence[Question], engine: Engine, progress: Progress, *, tables: bool
) -> list[GradedAnswer]:
    """The answers of ``engine``, without refusals, to questions with a gold answer or known to be unanswerable.
    ``engine`` must not read tables itself (``loop.tables = false``); ``tables``: a reading of them is a signal."""
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    reader = TableAnswerer(facts) if tables else None
    graded: list[GradedAnswer] = []
    async for recorded in recorded_answers(questions, engine, progress):
        question, query, curation, answer = recorded.question, recorded.query, recorded.curation, recorded.answer
        right = was_right(question, recorded.prediction)
        if right is None or recorded.prediction.status != "answered" or answer.status != "answered":
            continue
        reading = (
            reader.read(query, curation, Journal()) if reader is not None and wants_opinion(answer, query) else None
        )
        found = signals(query, answer, curation.kept, facts, opinion_on(answer, query, reading))
        graded.append(GradedAnswer(question.qid, " ".join(query.companies) or "none", found, right))
    return graded


def fit_confidence(answers: Sequence[GradedAnswer], l2: float) -> ConfidenceModel:
    """Fit to ``answers`` by penalized likelihood. Raises ValueError without answers."""
    if not answers:
        raise ValueError("no graded answers to fit to")
    x = np.stack([each.signals for each in answers])
    y = np.asarray([each.right for each in answers], dtype=np.float64)
    penalty = penalties(SIGNALS, l2)

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = x @ weights
        gradient = x.T @ (1 / (1 + np.exp(-scores)) - y) + penalty * weights
        value = float(np.sum(np.logaddexp(0, scores) - y * scores) + penalty @ weights**2 / 2)
        return value, np.asarray(gradient)

    return ConfidenceModel(np.asarray(minimize(loss, np.zeros(len(SIGNALS)), jac=True, method="L-BFGS-B").x))


def held_out_confidences(answers: Sequence[GradedAnswer], l2: float) -> list[tuple[float, bool]]:
    """(confidence, right) of each answer, from a model fitted without its companies."""
    stated: list[tuple[float, bool]] = []
    for rest, own in folds_by_group(answers, lambda answer: answer.group):
        model = fit_confidence(rest, l2)
        stated += [(model.probability(each.signals), each.right) for each in own]
    return stated

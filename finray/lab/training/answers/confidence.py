"""Fits ``finray.answering.confidence``: logistic regression with an L2 penalty, tested on held-out companies."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from finray.answering.confidence import SIGNALS, ConfidenceModel, signals
from finray.answering.guard import opinion_on, wants_opinion
from finray.answering.table_reader.table_answerer import TableAnswerer
from finray.core.arrays import Floats
from finray.core.journal import Journal
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.questions import Question
from finray.core.roles import Answerer, Curation
from finray.engine import Engine
from finray.index.reading.facts import FilingFacts
from finray.lab.evaluation.calibration import was_right
from finray.lab.training.retrieval.page_ranking_data import Progress
from finray.question.companies.catalog import CompanyCatalog

FOLDS = 5


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """``signals`` is float64 [len(SIGNALS)]. Folds do not split a ``group``: the companies of the question."""

    qid: str
    group: str
    signals: Floats
    right: bool


class _RecordingAnswerer:
    """Records the signals of the answers of ``inner``, for one question at a time."""

    def __init__(self, inner: Answerer, facts: FilingFacts, tables: TableAnswerer | None) -> None:
        self._inner = inner
        self._facts = facts
        self._tables = tables
        self.query: Query | None = None
        self.signals: Floats | None = None

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        answer = await self._inner.answer(query, curation, journal)
        self.query = query
        self.signals = None
        if answer.status == "answered":
            asked = self._tables if wants_opinion(answer) else None
            reading = asked.read(query, curation, Journal()) if asked is not None else None
            opinion = opinion_on(answer, query, reading)
            self.signals = signals(query, answer, curation.kept, self._facts, opinion)
        return answer


async def graded_answers(
    questions: Sequence[Question], engine: Engine, progress: Progress, *, tables: bool
) -> list[GradedAnswer]:
    """The answers of ``engine`` (without refusals) to questions that are known to be unanswerable or have a gold
    answer. ``engine`` must not read tables itself (``loop.tables = false``); ``tables``: they have an opinion."""
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    recorder = _RecordingAnswerer(engine.roles.answerer, facts, TableAnswerer(facts) if tables else None)
    recorded = Engine(replace(engine.roles, answerer=recorder), engine.reader, engine.settings)
    graded: list[GradedAnswer] = []
    for done, question in enumerate(questions):
        progress(done, len(questions))
        prediction = await recorded.answer(question)
        right = was_right(question, prediction)
        if right is None or prediction.status != "answered" or recorder.signals is None or recorder.query is None:
            continue
        group = " ".join(recorder.query.companies) or "none"
        graded.append(GradedAnswer(question.qid, group, recorder.signals, right))
    progress(len(questions), len(questions))
    return graded


def fit_confidence(answers: Sequence[GradedAnswer], l2: float) -> ConfidenceModel:
    """The weights that maximize the penalized likelihood; the constant is not penalized."""
    if not answers:
        raise ValueError("no graded answers to fit to")
    x = np.stack([each.signals for each in answers])
    y = np.asarray([each.right for each in answers], dtype=np.float64)
    penalty = np.asarray([0.0 if name == "constant" else l2 for name in SIGNALS])

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = x @ weights
        gradient = x.T @ (1 / (1 + np.exp(-scores)) - y) + penalty * weights
        value = float(np.sum(np.logaddexp(0, scores) - y * scores) + penalty @ weights**2 / 2)
        return value, np.asarray(gradient)

    return ConfidenceModel(np.asarray(minimize(loss, np.zeros(len(SIGNALS)), jac=True, method="L-BFGS-B").x))


def held_out_confidences(answers: Sequence[GradedAnswer], l2: float, seed: int = 0) -> list[tuple[float, bool]]:
    """(confidence, right) of each answer, from a model fitted without its companies."""
    groups = sorted({each.group for each in answers})
    random.Random(seed).shuffle(groups)
    fold_of = {group: number % FOLDS for number, group in enumerate(groups)}
    stated: list[tuple[float, bool]] = []
    for fold in range(FOLDS):
        rest = [each for each in answers if fold_of[each.group] != fold]
        held = [each for each in answers if fold_of[each.group] == fold]
        if rest and held:
            model = fit_confidence(rest, l2)
            stated += [(model.probability(each.signals), each.right) for each in held]
    return stated

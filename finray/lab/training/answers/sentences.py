"""Fits ``finray.answering.sentences.model``: a conditional logit over the sentences of a question's pages, then a
logistic regression for whether the chosen sentences hold the evidence, both with an L2 penalty.

The threshold is the largest at which at most REFUSED of the questions that sentences should answer stay without; that
of amounts, the smallest at which a share RIGHT of the choices have the evidence: most amounts are in tables. Both by
models that were fitted without the question's company.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from finray.answering.sentences.features import FEATURES, Candidates
from finray.answering.sentences.model import SIGNALS, SentenceModel, choose, signals
from finray.core.arrays import Floats
from finray.lab.training.group_folds import folds_by_group
from finray.lab.training.logits import conditional_logit, logistic

FOLDS = 5
REFUSED = 0.1
RIGHT = 1 / 2
ENOUGH = 0.5
"""A sentence with this share of a gold quotation's word triples, or of its own in the quotation, is evidence."""


_AMOUNT = [list(FEATURES).index(name) for name in ("amount", "no_amount")]


@dataclass(frozen=True, slots=True)
class SentenceQuestion:
    """The sentences that may answer a question, and ``gold``, float64 [len(sentences)]: how much of the evidence each
    has. ``in_words``: sentences should answer it. Folds do not split a ``group``."""

    qid: str
    group: str
    found: Candidates
    gold: Floats
    in_words: bool

    @property
    def evidence(self) -> Floats:
        return np.where(self.gold >= ENOUGH, self.gold, 0.0)


def fit_sentences(questions: Sequence[SentenceQuestion], l2: float) -> SentenceModel:
    """Raises ValueError without a question whose evidence is among its sentences."""
    tests = held_out_tests(questions, l2)
    weights = _fit_choice(questions, l2)
    answers = _fit_answers(questions, weights, l2)
    in_words = [test.probability for test in tests if test.in_words]
    threshold = float(np.quantile(in_words, REFUSED)) if in_words else 0.0
    return SentenceModel(weights, answers, threshold, max(threshold, _least_right([t for t in tests if t.amount])))


@dataclass(frozen=True, slots=True)
class HeldOutTest:
    """The choice of a model that was fitted without the question's company: its probability, and whether its best
    sentence, or any, has the evidence. ``amount``: the question asks for an amount."""

    qid: str
    probability: float
    best: bool
    any: bool
    in_words: bool
    amount: bool


def held_out_tests(questions: Sequence[SentenceQuestion], l2: float) -> list[HeldOutTest]:
    """One for each question with sentences."""
    result = []
    for rest, own in folds_by_group([question.group for question in questions], FOLDS):
        known = [questions[number] for number in rest]
        weights = _fit_choice(known, l2)
        model = SentenceModel(weights, _fit_answers(known, weights, l2), 0.0, 0.0)
        for question in (questions[number] for number in own if questions[number].found.sentences):
            scores = model.scores(question.found.features)
            chosen = choose(question.found, scores)
            evidence = question.evidence[chosen] > 0
            amount = bool(question.found.features[:, _AMOUNT].any())
            probability = model.probability(question.found, scores, chosen)
            test = HeldOutTest(
                question.qid, probability, bool(evidence[0]), bool(evidence.any()), question.in_words, amount
            )
            result.append(test)
    return result


def _least_right(tests: Sequence[HeldOutTest]) -> float:
    """The least probability at which a share RIGHT of the surer choices have the evidence; 1 if none."""
    ordered = sorted(tests, key=lambda test: -test.probability)
    right = np.cumsum([test.any for test in ordered])
    enough = [at for at, count in enumerate(right.tolist()) if count >= RIGHT * (at + 1)]
    return ordered[enough[-1]].probability if enough else 1.0


def _fit_choice(questions: Sequence[SentenceQuestion], l2: float) -> Floats:
    """The weights that maximize the penalized likelihood that a sentence with evidence is chosen."""
    lists = [(q.found.features, q.evidence) for q in questions if q.evidence.any()]
    if not lists:
        raise ValueError("no question has its evidence among the sentences of its pages")
    return conditional_logit(lists, l2)


def _fit_answers(questions: Sequence[SentenceQuestion], weights: Floats, l2: float) -> Floats:
    """The weights of SIGNALS; the constant is not penalized."""
    rows, right = [], []
    for question in questions:
        if not question.found.sentences:
            continue
        scores = question.found.features @ weights
        chosen = choose(question.found, scores)
        rows.append(signals(question.found.features, scores, chosen))
        right.append(bool(question.evidence[chosen].any()))
    penalty = np.asarray([0.0 if name == "constant" else l2 for name in SIGNALS])
    return logistic(np.stack(rows), np.asarray(right, dtype=np.float64), penalty)

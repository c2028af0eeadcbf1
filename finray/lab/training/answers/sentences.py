"""Fits ``finray.answering.sentences.model``: a conditional logit over the sentences of a question's pages, then a
logistic regression for whether the chosen sentences hold the evidence, both with an L2 penalty.

The threshold is the highest at which at most a share REFUSED of the questions that sentences should answer get no
answer. That of questions for amounts, which are mostly in tables, is the lowest above which a share RIGHT of the
choices have the evidence. Both are measured by models that were fitted without the question's company.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from finray.answering.sentences.features import FEATURES, Candidates
from finray.answering.sentences.model import SIGNALS, SentenceModel, choose, signals
from finray.core.arrays import Floats
from finray.lab.training.choices import least_with_share
from finray.lab.training.group_folds import folds_by_group
from finray.lab.training.logits import conditional_logit, logistic, penalties

REFUSED = 0.1
RIGHT = 1 / 2
ENOUGH = 0.5
"""A sentence with this share of a gold quotation's word triples, or of its own in the quotation, is evidence."""
_AMOUNT = [list(FEATURES).index(name) for name in ("amount", "no_amount")]


@dataclass(frozen=True, slots=True)
class SentenceQuestion:
    """The sentences that may answer a question. ``gold``, float64 [sentences], is how much of the evidence each has.
    ``in_words``: sentences should answer it. Folds do not split a ``group``."""

    qid: str
    group: str
    found: Candidates
    gold: Floats
    in_words: bool

    @property
    def evidence(self) -> Floats:
        return np.where(self.gold >= ENOUGH, self.gold, 0.0)


def fit_sentences(questions: Sequence[SentenceQuestion], l2: float) -> SentenceModel:
    """Fit to ``questions``. Raises ValueError without one whose evidence is among its sentences."""
    tests = held_out_tests(questions, l2)
    weights = _fit_choice(questions, l2)
    answers = _fit_answers(questions, weights, l2)
    in_words = [test.probability for test in tests if test.in_words]
    threshold = float(np.quantile(in_words, REFUSED)) if in_words else 0.0
    of_amounts = least_with_share(((test.probability, test.any) for test in tests if test.amount), RIGHT)
    return SentenceModel(weights, answers, threshold, max(threshold, of_amounts))


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
    """The choice for each question with sentences."""
    result = []
    for rest, own in folds_by_group(questions, lambda question: question.group):
        weights = _fit_choice(rest, l2)
        model = SentenceModel(weights, _fit_answers(rest, weights, l2), 0.0, 0.0)
        for question in (question for question in own if question.found.sentences):
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


def _fit_choice(questions: Sequence[SentenceQuestion], l2: float) -> Floats:
    """The weights that maximize the penalized likelihood that a sentence with evidence is chosen."""
    lists = [(q.found.features, q.evidence) for q in questions if q.evidence.any()]
    if not lists:
        raise ValueError("no question has its evidence among the sentences of its pages")
    return conditional_logit(lists, l2)


def _fit_answers(questions: Sequence[SentenceQuestion], weights: Floats, l2: float) -> Floats:
    rows, right = [], []
    for question in questions:
        if not question.found.sentences:
            continue
        scores = question.found.features @ weights
        chosen = choose(question.found, scores)
        rows.append(signals(question.found.features, scores, chosen))
        right.append(bool(question.evidence[chosen].any()))
    return logistic(np.stack(rows), np.asarray(right, dtype=np.float64), penalties(SIGNALS, l2))

"""Fits ``finray.answering.cell_choice``: a conditional logit over the cells of a question, then a logistic regression
for whether the chosen one is the figure asked for, both with an L2 penalty.

The threshold is the lowest at which the choice gives at most WRONG of the questions for a figure a wrong one, by models
that were fitted without the question's company.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.answering.cell_choice import SIGNALS, CellModel, best_cell, signals
from finray.answering.cell_features import CellCandidates
from finray.answering.sentence_features import Floats
from finray.lab.training.folds import folds_by_group
from finray.lab.training.logits import conditional_logit, logistic

FOLDS = 5
WRONG = 0.02


@dataclass(frozen=True, slots=True)
class CellQuestion:
    """The cells that compete for a question, ``asked`` (``question_signals``), which cells are ``gold``, and which
    state the ``right`` value, perhaps by chance, bool [len(cells)] each. Folds do not split a ``group``."""

    qid: str
    group: str
    found: CellCandidates
    asked: Floats
    gold: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]
    figure: bool
    """The gold answer is a figure."""
    taken: bool
    """A plan gave a figure, or the question was refused before: no cell is chosen."""


@dataclass(frozen=True, slots=True)
class HeldOutChoice:
    """The choice of a model that was fitted without the question's company."""

    qid: str
    probability: float
    right: bool
    figure: bool


def fit_cell_choice(questions: Sequence[CellQuestion], l2: float) -> CellModel:
    """Raises ValueError without a question whose figure is among its cells."""
    threshold = least_probability(held_out_choices(questions, l2), questions)
    weights = _fit_choice(questions, l2)
    return CellModel(weights, _fit_answers(questions, weights, l2), threshold)


def held_out_choices(questions: Sequence[CellQuestion], l2: float) -> list[HeldOutChoice]:
    """One for each question with cells that no plan answers."""
    result = []
    for rest, own in folds_by_group([question.group for question in questions], FOLDS):
        known = [questions[number] for number in rest]
        weights = _fit_choice(known, l2)
        answers = _fit_answers(known, weights, l2)
        for question in (questions[number] for number in own):
            if question.taken or not question.found.cells:
                continue
            scores = question.found.features @ weights
            best = best_cell(question.found, scores)
            logit = float(signals(question.found, scores, best, question.asked) @ answers)
            probability = float(1 / (1 + np.exp(-logit)))
            result.append(HeldOutChoice(question.qid, probability, bool(question.right[best]), question.figure))
    return result


def least_probability(choices: Sequence[HeldOutChoice], questions: Sequence[CellQuestion]) -> float:
    """The lowest threshold at which wrong choices are at most WRONG of the questions for a figure; 1 if there is none.
    A value given where none is asked for counts as wrong."""
    asked, wrong, threshold = sum(question.figure for question in questions), 0, 1.0
    for choice in sorted(choices, key=lambda choice: -choice.probability):
        wrong += not choice.right
        if wrong > WRONG * asked:
            break
        threshold = choice.probability
    return threshold


def _fit_choice(questions: Sequence[CellQuestion], l2: float) -> Floats:
    lists = [(q.found.features, q.gold.astype(np.float64)) for q in questions if q.gold.any()]
    return conditional_logit(lists, l2)


def _fit_answers(questions: Sequence[CellQuestion], weights: Floats, l2: float) -> Floats:
    """The weights of SIGNALS; the constant is not penalized. Questions that a plan answers show what a right choice
    looks like, so they count too."""
    rows, right = [], []
    for question in questions:
        if not question.found.cells:
            continue
        scores = question.found.features @ weights
        best = best_cell(question.found, scores)
        rows.append(signals(question.found, scores, best, question.asked))
        right.append(bool(question.right[best]))
    penalty = np.asarray([0.0 if name == "constant" else l2 for name in SIGNALS])
    return logistic(np.stack(rows), np.asarray(right, dtype=np.float64), penalty)

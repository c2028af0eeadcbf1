"""Fits ``finray.answering.figure_choice``: a conditional logit over the figures in the sentences of a question, then a
logistic regression for whether the chosen one is the figure asked for, both with an L2 penalty.

The threshold is the lowest at which the choice gives at most WRONG of the questions for a figure a wrong one, by models
that were fitted without the question's company.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.answering.figure_choice import SIGNALS, FigureModel, signals
from finray.answering.figure_features import FigureCandidates
from finray.answering.sentence_features import Floats
from finray.lab.training.cell_choice import HeldOutChoice
from finray.lab.training.folds import folds_by_group
from finray.lab.training.logits import conditional_logit, logistic

FOLDS = 5
WRONG = 0.005


@dataclass(frozen=True, slots=True)
class FigureQuestion:
    """The figures that compete for a question, ``asked`` (``question_signals``), which figures are ``gold``, and which
    state the ``right`` value, perhaps by chance, bool [len(figures)] each. Folds do not split a ``group``."""

    qid: str
    group: str
    found: FigureCandidates
    asked: Floats
    gold: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]
    figure: bool
    """The gold answer is a figure."""
    taken: bool
    """A plan or a cell gave a figure, or the question was refused before: no figure is chosen."""


def fit_figure_choice(questions: Sequence[FigureQuestion], l2: float) -> FigureModel:
    """Raises ValueError without a question whose figure is in a sentence."""
    threshold = least_probability(held_out_figures(questions, l2), questions)
    weights = _fit_choice(questions, l2)
    return FigureModel(weights, _fit_answers(questions, weights, l2), threshold)


def held_out_figures(questions: Sequence[FigureQuestion], l2: float) -> list[HeldOutChoice]:
    """The choices of models that were fitted without the question's company, one for each question with figures that
    nothing else answers."""
    result = []
    for rest, own in folds_by_group([question.group for question in questions], FOLDS):
        known = [questions[number] for number in rest]
        weights = _fit_choice(known, l2)
        model = FigureModel(weights, _fit_answers(known, weights, l2), 0.0)
        for question in (questions[number] for number in own):
            choice = None if question.taken else model.choose(question.found, question.asked)
            if choice is not None:
                right = bool(question.right[choice.number])
                result.append(HeldOutChoice(question.qid, choice.probability, right, question.figure))
    return result


def least_probability(choices: Sequence[HeldOutChoice], questions: Sequence[FigureQuestion]) -> float:
    """The lowest threshold at which wrong choices are at most WRONG of the questions for a figure; 1 if there is none.
    A value given where none is asked for counts as wrong."""
    asked, wrong, threshold = sum(question.figure for question in questions), 0, 1.0
    for choice in sorted(choices, key=lambda choice: -choice.probability):
        wrong += not choice.right
        if wrong > WRONG * asked:
            break
        threshold = choice.probability
    return threshold


def _fit_choice(questions: Sequence[FigureQuestion], l2: float) -> Floats:
    lists = [(q.found.features, q.gold.astype(np.float64)) for q in questions if q.gold.any()]
    return conditional_logit(lists, l2)


def _fit_answers(questions: Sequence[FigureQuestion], weights: Floats, l2: float) -> Floats:
    """The weights of SIGNALS; the constant is not penalized."""
    rows, right = [], []
    for question in questions:
        if question.found.figures:
            scores = question.found.features @ weights
            rows.append(signals(question.found, scores, question.asked))
            right.append(bool(question.right[int(np.argmax(scores))]))
    penalty = np.asarray([0.0 if name == "constant" else l2 for name in SIGNALS])
    return logistic(np.stack(rows), np.asarray(right, dtype=np.float64), penalty)

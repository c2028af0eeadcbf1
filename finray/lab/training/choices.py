"""Fits a choice among candidates: a conditional logit over those of a question, then a logistic regression for whether
the chosen one is the figure asked for, both with an L2 penalty.

The threshold is the lowest at which the choice gives at most a given share of the questions for a figure a wrong one,
by models that were fitted without the question's company.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from finray.answering.choice_model import Fitted, probability
from finray.core.arrays import Floats
from finray.lab.training.group_folds import folds_by_group
from finray.lab.training.logits import conditional_logit, logistic

FOLDS = 5


class Candidates(Protocol):
    @property
    def features(self) -> Floats:
        """float64 [candidates, features]"""


Found = TypeVar("Found", bound=Candidates)


@dataclass(frozen=True)
class ChoiceQuestion(Generic[Found]):
    """What competes for a question, ``asked`` (``question_signals``), which candidates are ``gold``, and which state
    the ``right`` value, perhaps by chance, bool [candidates] each. Folds do not split a ``group``."""

    qid: str
    group: str
    found: Found
    asked: Floats
    gold: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]
    figure: bool
    """The gold answer is a figure."""
    taken: bool
    """Something before this choice gave a figure, or the question was refused: nothing is chosen."""


@dataclass(frozen=True, slots=True)
class HeldOutChoice:
    """The choice of a model that was fitted without the question's company."""

    qid: str
    probability: float
    right: bool
    figure: bool


@dataclass(frozen=True)
class ChoiceTask(Generic[Found]):
    """``best`` is the number of the chosen candidate by the scores, ``signals`` are those of it, named by ``names``;
    ``wrong`` is the largest share of wrong figures."""

    names: Mapping[str, str]
    best: Callable[[Found, Floats], int]
    signals: Callable[[Found, Floats, int, Floats], Floats]
    wrong: float

    def fit(
        self,
        questions: Sequence[ChoiceQuestion[Found]],
        l2: float,
        usual: Callable[[ChoiceQuestion[Found]], bool] = lambda _: True,
    ) -> Fitted:
        """``usual`` are the questions that set the threshold; others, such as those written about one kind of answer,
        only teach the weights. Raises ValueError without a question that has a gold candidate."""
        counted = [question for question in questions if usual(question)]
        qids = {question.qid for question in counted}
        tests = [test for test in self.held_out(questions, l2) if test.qid in qids]
        threshold = least_probability(tests, counted, self.wrong)
        weights = _fit_choice(questions, l2)
        return Fitted(weights, self._fit_answers(questions, weights, l2), {"threshold": threshold})

    def held_out(self, questions: Sequence[ChoiceQuestion[Found]], l2: float) -> list[HeldOutChoice]:
        """One for each question with candidates that is not taken."""
        result = []
        for rest, own in folds_by_group([question.group for question in questions], FOLDS):
            known = [questions[number] for number in rest]
            weights = _fit_choice(known, l2)
            answers = self._fit_answers(known, weights, l2)
            for question in (questions[number] for number in own):
                if not question.taken and len(question.found.features):
                    best, signals = self._chosen(question, weights)
                    right = bool(question.right[best])
                    result.append(HeldOutChoice(question.qid, probability(signals, answers), right, question.figure))
        return result

    def _fit_answers(self, questions: Sequence[ChoiceQuestion[Found]], weights: Floats, l2: float) -> Floats:
        """The weights of the signals; the constant is not penalized. Questions that are taken show what a right choice
        looks like, so they count too."""
        rows, right = [], []
        for question in questions:
            if len(question.found.features):
                best, signals = self._chosen(question, weights)
                rows.append(signals)
                right.append(bool(question.right[best]))
        penalty = np.asarray([0.0 if name == "constant" else l2 for name in self.names])
        return logistic(np.stack(rows), np.asarray(right, dtype=np.float64), penalty)

    def _chosen(self, question: ChoiceQuestion[Found], weights: Floats) -> tuple[int, Floats]:
        scores = question.found.features @ weights
        best = self.best(question.found, scores)
        return best, self.signals(question.found, scores, best, question.asked)


def highest_score(_found: object, scores: Floats) -> int:
    """The number of the candidate with the highest score."""
    return int(scores.argmax())


def least_probability(
    choices: Sequence[HeldOutChoice], questions: Sequence[ChoiceQuestion[Found]], most_wrong: float
) -> float:
    """The lowest threshold at which wrong choices are at most ``most_wrong`` of the questions for a figure; 1 if there
    is none. A value given where none is asked for counts as wrong."""
    asked, wrong, threshold = sum(question.figure for question in questions), 0, 1.0
    for choice in sorted(choices, key=lambda choice: -choice.probability):
        wrong += not choice.right
        if wrong > most_wrong * asked:
            break
        threshold = choice.probability
    return threshold


def _fit_choice(questions: Sequence[ChoiceQuestion[Found]], l2: float) -> Floats:
    lists = [(q.found.features, q.gold.astype(np.float64)) for q in questions if q.gold.any()]
    return conditional_logit(lists, l2)

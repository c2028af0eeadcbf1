"""Fits a choice among candidates: a conditional logit over the candidates of a question, then a logistic regression for
whether the chosen one is right, both with an L2 penalty.

The threshold is the lowest at which at most a given share of the questions for a figure get a wrong one, as measured
by models that were fitted without the question's company.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from finray.answering.choice_model import Fitted, probability
from finray.core.arrays import Floats
from finray.lab.training.group_folds import folds_by_group
from finray.lab.training.logits import conditional_logit, logistic, penalties


class Candidates(Protocol):
    @property
    def features(self) -> Floats:
        """float64 [candidates, features]"""


Found = TypeVar("Found", bound=Candidates)


@dataclass(frozen=True)
class ChoiceQuestion(Generic[Found]):
    """The candidates of a question, and what it asks (``question_signals``). ``gold`` and ``right``, both bool
    [candidates]: which are the answer, and which state its value, perhaps by chance. Folds do not split a ``group``."""

    qid: str
    group: str
    found: Found
    asked: Floats
    gold: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]
    figure: bool
    """The gold answer is a figure."""
    taken: bool
    """An earlier step gave a figure or refused the question: nothing is chosen."""


@dataclass(frozen=True, slots=True)
class HeldOutChoice:
    """The choice of a model that was fitted without the question's company."""

    qid: str
    probability: float
    right: bool
    figure: bool


@dataclass(frozen=True)
class ChoiceTask(Generic[Found]):
    """``signals`` (candidates, scores, number of the best, ``asked``) tell how sure a choice is, and ``names`` name
    them. ``wrong`` is the largest share of wrong figures."""

    names: Mapping[str, str]
    signals: Callable[[Found, Floats, int, Floats], Floats]
    wrong: float

    def fit(
        self,
        questions: Sequence[ChoiceQuestion[Found]],
        l2: float,
        usual: Callable[[ChoiceQuestion[Found]], bool] = lambda _: True,
    ) -> Fitted:
        """Fit to ``questions``. Only ``usual`` ones set the threshold; questions written about one kind of answer, for
        example, would distort it. Raises ValueError without a question that has a gold candidate."""
        counted = [question for question in questions if usual(question)]
        qids = {question.qid for question in counted}
        tests = [test for test in self.held_out(questions, l2) if test.qid in qids]
        threshold = least_probability(tests, counted, self.wrong)
        weights = _fit_choice(questions, l2)
        return Fitted(weights, self._fit_answers(questions, weights, l2), {"threshold": threshold})

    def held_out(self, questions: Sequence[ChoiceQuestion[Found]], l2: float) -> list[HeldOutChoice]:
        """The choice for each question that has candidates and is not taken."""
        result = []
        for rest, own in folds_by_group(questions, lambda question: question.group):
            weights = _fit_choice(rest, l2)
            answers = self._fit_answers(rest, weights, l2)
            for question in own:
                if not question.taken and len(question.found.features):
                    best, signals = self._chosen(question, weights)
                    right = bool(question.right[best])
                    result.append(HeldOutChoice(question.qid, probability(signals, answers), right, question.figure))
        return result

    def _fit_answers(self, questions: Sequence[ChoiceQuestion[Found]], weights: Floats, l2: float) -> Floats:
        """The weights of the signals. Taken questions count too: they show what a right choice looks like."""
        rows, right = [], []
        for question in questions:
            if len(question.found.features):
                best, signals = self._chosen(question, weights)
                rows.append(signals)
                right.append(bool(question.right[best]))
        return logistic(np.stack(rows), np.asarray(right, dtype=np.float64), penalties(self.names, l2))

    def _chosen(self, question: ChoiceQuestion[Found], weights: Floats) -> tuple[int, Floats]:
        scores = question.found.features @ weights
        best = int(scores.argmax())
        return best, self.signals(question.found, scores, best, question.asked)


def least_probability(
    choices: Sequence[HeldOutChoice], questions: Sequence[ChoiceQuestion[Found]], most_wrong: float
) -> float:
    """The lowest threshold at which wrong choices are at most ``most_wrong`` of the questions for a figure; 1 if there
    is none. A figure for a question that asks for none counts as wrong."""
    asked, wrong, threshold = sum(question.figure for question in questions), 0, 1.0
    for choice in sorted(choices, key=lambda choice: -choice.probability):
        wrong += not choice.right
        if wrong > most_wrong * asked:
            break
        threshold = choice.probability
    return threshold


def least_with_share(choices: Iterable[tuple[float, bool]], share: float) -> float:
    """The lowest threshold above which a ``share`` of the (probability, right) ``choices`` are right; 1 if none."""
    right, threshold = 0, 1.0
    for count, (candidate, is_right) in enumerate(sorted(choices, key=lambda choice: -choice[0]), start=1):
        right += is_right
        if right >= share * count:
            threshold = candidate
    return threshold


def _fit_choice(questions: Sequence[ChoiceQuestion[Found]], l2: float) -> Floats:
    lists = [(q.found.features, q.gold.astype(np.float64)) for q in questions if q.gold.any()]
    return conditional_logit(lists, l2)

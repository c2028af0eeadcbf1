"""Measures how well stated confidences match the share of right answers (Guo et al. 2017, arXiv 1706.04599), and
accuracy over coverage (El-Yaniv and Wiener 2010)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.lab.evaluation import metrics

BINS = 10


def was_right(question: Question, prediction: Prediction) -> bool | None:
    """Whether an answer is right: a figure by LOFin's numeric accuracy, a quotation by its page. Any answer to an
    unanswerable question is wrong. None for refusals, and for questions without gold data."""
    if prediction.status != "answered":
        return None
    if metrics.is_unanswerable(question):
        return False
    reference = metrics.numeric_reference(question)
    if reference is not None and prediction.value is not None:
        return metrics.numeric_accuracy(question, prediction, reference)
    gold = metrics.paged(question.evidence)
    return bool(metrics.found_pages(prediction.evidence, gold)) if gold else None


def stated_confidences(pairs: Iterable[tuple[Question, Prediction]]) -> list[tuple[float, bool]]:
    """(confidence, right) of the predictions that state one and can be graded."""
    graded = [(prediction.confidence, was_right(question, prediction)) for question, prediction in pairs]
    return [(confidence, right) for confidence, right in graded if confidence is not None and right is not None]


@dataclass(frozen=True, slots=True)
class Bin:
    """``n`` answers of similar confidence: their mean confidence and the share of right ones."""

    confidence: float
    accuracy: float
    n: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """``ece`` is the expected calibration error: the mean gap of ``bins``, weighted by their size. ``brier`` is the
    mean squared error of the confidences, ``base_brier`` that of always stating the overall accuracy."""

    n: int
    accuracy: float
    ece: float
    brier: float
    base_brier: float
    bins: tuple[Bin, ...]

    @property
    def skill(self) -> float:
        """Brier skill score: 1 is perfect, 0 no better than the overall accuracy."""
        return 1 - self.brier / self.base_brier if self.base_brier else 0.0


def calibration(stated: Sequence[tuple[float, bool]], bins: int = BINS) -> Calibration | None:
    """The calibration of ``stated``, pairs of (confidence, right), in bins of equal size; None without answers."""
    if not stated:
        return None
    ordered = sorted(stated)
    confidence = np.asarray([c for c, _ in ordered])
    right = np.asarray([float(r) for _, r in ordered])
    accuracy = float(right.mean())
    groups = [g for g in np.array_split(np.arange(len(ordered)), min(bins, len(ordered))) if len(g)]
    found = tuple(Bin(float(confidence[g].mean()), float(right[g].mean()), len(g)) for g in groups)
    return Calibration(
        n=len(ordered),
        accuracy=accuracy,
        ece=sum(each.n * abs(each.confidence - each.accuracy) for each in found) / len(ordered),
        brier=float(np.mean((confidence - right) ** 2)),
        base_brier=float(np.mean((accuracy - right) ** 2)),
        bins=found,
    )


def accuracy_over_coverage(stated: Sequence[tuple[float, bool]]) -> list[tuple[float, float]]:
    """(coverage, accuracy) of the most confident answers, for each confidence as the threshold."""
    ordered = sorted(stated, key=lambda pair: -pair[0])
    right = np.cumsum([float(r) for _, r in ordered])
    last = [i for i in range(len(ordered)) if i + 1 == len(ordered) or ordered[i + 1][0] != ordered[i][0]]
    return [((i + 1) / len(ordered), float(right[i]) / (i + 1)) for i in last]

"""Accuracy over coverage: the share of right answers if only the surest are given (El-Yaniv and Wiener 2010)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from finray.core.bootstrap import Estimate, estimate
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.lab.evaluation import metrics
from finray.lab.evaluation.calibration import stated_confidences

SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Shares of the answers given, the surest first."""
Pairs = Sequence[tuple[Question, Prediction]]
Graded = tuple[float, bool]
"""Confidence, and whether the answer is right."""


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """The answers with at least ``confidence``: their share of all questions, and the share of right ones."""

    confidence: float
    coverage: float
    right: Estimate


def figures_given(pairs: Pairs) -> tuple[list[Graded], int]:
    """The answered figures, and the number of questions that ask for a figure or are unanswerable."""
    asked = [(q, p) for q, p in pairs if metrics.numeric_reference(q) is not None or metrics.is_unanswerable(q)]
    return stated_confidences((q, p) for q, p in asked if p.value is not None), len(asked)


def answers_given(pairs: Pairs) -> tuple[list[Graded], int]:
    """The answers that can be graded (quotations by their page), and the number of questions that allow grading."""
    asked = [
        (q, p)
        for q, p in pairs
        if metrics.is_unanswerable(q) or metrics.numeric_reference(q) is not None or metrics.paged(q.evidence)
    ]
    return stated_confidences(asked), len(asked)


def coverage_points(graded: Sequence[Graded], questions: int, shares: Sequence[float] = SHARES) -> list[CoveragePoint]:
    """A point for each of ``shares`` of the answers; equal confidences stay together, so points may coincide."""
    ordered = sorted(graded, key=lambda pair: -pair[0])
    points: dict[float, CoveragePoint] = {}
    for share in shares if ordered else ():
        threshold = ordered[max(round(share * len(ordered)), 1) - 1][0]
        kept = [right for confidence, right in ordered if confidence >= threshold]
        points[threshold] = CoveragePoint(threshold, len(kept) / questions, estimate(kept))
    return list(points.values())

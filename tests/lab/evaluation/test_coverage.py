"""Accuracy if only the surest answers are given."""

from __future__ import annotations

from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.coverage import answers_given, coverage_points, figures_given


def test_equal_confidences_stay_together() -> None:
    graded = [(0.9, True), (0.9, False), (0.5, True), (0.1, False)]
    points = coverage_points(graded, 8, (0.25, 0.5, 0.75, 1.0))
    assert [(p.confidence, p.coverage, p.right.value) for p in points] == [
        (0.9, 0.25, 0.5),
        (0.5, 0.375, 2 / 3),
        (0.1, 0.5, 0.5),
    ]
    assert coverage_points([], 8) == []


def test_what_counts_as_right() -> None:
    here = (Passage("D", "D", 3, 0, 1, "x", 1.0),)
    figure = Question("q", "How much?", "5", evidence=(GoldEvidence("D", 3),))
    words = Question("q", "Why?", "It grew.", evidence=(GoldEvidence("D", 3),))
    nothing = Question("q", "How much?", None, "unanswerable")
    unplaced = Question("q", "Why?", "It grew.", evidence=(GoldEvidence("D"),))
    value = Prediction("q", "", "5", "answered", 5.0, confidence=0.8)
    quoted = Prediction("q", "", "It grew.", "answered", evidence=here, confidence=0.6)
    refused = Prediction("q", "", "", "unanswerable")

    pairs = [(figure, value), (words, quoted), (nothing, value), (unplaced, quoted), (figure, refused)]
    assert figures_given(pairs) == ([(0.8, True), (0.8, False)], 3)
    assert answers_given(pairs) == ([(0.8, True), (0.6, True), (0.8, False)], 4)

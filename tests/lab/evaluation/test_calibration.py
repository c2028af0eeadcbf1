"""Confidences against how often answers are right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.calibration import accuracy_over_coverage, calibration, stated_confidences, was_right

STATED = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=200)


def test_confidences_that_come_true_have_no_error() -> None:
    stated = [(0.25, i == 0) for i in range(4)] + [(0.75, i > 0) for i in range(4)]
    found = calibration(stated, bins=2)
    assert found is not None
    assert found.ece == pytest.approx(0)
    assert [(b.confidence, b.accuracy, b.n) for b in found.bins] == [(0.25, 0.25, 4), (0.75, 0.75, 4)]


def test_sure_and_wrong_is_the_worst() -> None:
    found = calibration([(1.0, False)] * 5)
    assert found is not None
    assert (found.ece, found.brier, found.accuracy) == (1.0, 1.0, 0.0)


def test_confidence_that_tells_right_from_wrong_has_skill() -> None:
    knows = calibration([(0.9, True)] * 5 + [(0.1, False)] * 5)
    blind = calibration([(0.5, True)] * 5 + [(0.5, False)] * 5)
    assert knows is not None
    assert blind is not None
    assert knows.skill > 0.9
    assert blind.skill == pytest.approx(0)


def test_without_answers_there_is_nothing_to_say() -> None:
    assert calibration([]) is None
    assert accuracy_over_coverage([]) == []


def test_taking_fewer_answers_raises_accuracy() -> None:
    assert accuracy_over_coverage([(0.9, True), (0.9, True), (0.2, False)]) == [(2 / 3, 1.0), (1.0, 2 / 3)]


@given(STATED)
def test_every_answer_counts_once(stated: list[tuple[float, bool]]) -> None:
    found = calibration(stated)
    assert found is not None
    assert sum(each.n for each in found.bins) == found.n == len(stated)
    assert 0 <= found.ece <= 1
    curve = accuracy_over_coverage(stated)
    assert curve[-1][0] == 1.0
    assert curve[-1][1] == pytest.approx(found.accuracy)


GOLD = Question("q", "What was revenue?", "$5 million", evidence=(GoldEvidence("A", 1),))
PAGE = Passage("A", "id", 1, 0, 4, "text", 0.0)


@pytest.mark.parametrize(
    ("question", "prediction", "right"),
    [
        (GOLD, Prediction("q", "", "$5 million", "answered", 5e6, "USD"), True),
        (GOLD, Prediction("q", "", "$6 million", "answered", 6e6, "USD", evidence=(PAGE,)), False),
        (GOLD, Prediction("q", "", "a quotation", "answered", evidence=(PAGE,)), True),
        (GOLD, Prediction("q", "", "Not in the index", "unanswerable"), None),
        (Question("q", "", question_type="unanswerable_period"), Prediction("q", "", "5", "answered", 5.0), False),
        (Question("q", "", "It rose."), Prediction("q", "", "It did.", "answered"), None),
    ],
)
def test_a_figure_is_right_by_its_value_and_a_quotation_by_its_page(
    question: Question, prediction: Prediction, right: bool | None
) -> None:
    assert was_right(question, prediction) is right


def test_only_what_states_a_confidence_and_can_be_graded_counts() -> None:
    sure = Prediction("q", "", "$5 million", "answered", 5e6, "USD", confidence=0.9)
    silent = Prediction("q", "", "$5 million", "answered", 5e6, "USD")
    assert stated_confidences([(GOLD, sure), (GOLD, silent)]) == [(0.9, True)]

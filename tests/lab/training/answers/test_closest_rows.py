"""Fitting which rows are closest, on made-up candidates."""

from __future__ import annotations

import datetime as dt

import numpy as np

from finray.answering.closest.features import FEATURES, ClosestCandidates
from finray.answering.closest.model import OF_QUESTION
from finray.core.filing import Filing, Page
from finray.evidence.candidates import Candidate
from finray.lab.training.answers.closest_rows import (
    RIGHT,
    ClosestQuestion,
    HeldOutRows,
    fit_closest,
    held_out_rows,
    measured,
)
from finray.lab.training.choices import least_with_share

FILING = Filing("f", "ACME", "", "", "Acme", "10-K", period_end=dt.date(2022, 12, 31))
NEAR = list(FEATURES).index("near")


def question(number: int) -> ClosestQuestion:
    """Of four rows the nearest one is gold, unless none is near."""
    known = number % 2 == 0
    features = np.zeros((4, len(FEATURES)))
    features[:, NEAR] = (0.9, 0.3, 0.2, 0.1) if known else (0.2, 0.2, 0.2, 0.2)
    page = Candidate(FILING, Page(0, ""), 0, (), ())
    found = ClosestCandidates((page,), tuple((0, 0, row) for row in range(4)), features)
    gold = np.asarray([known, False, False, False])
    return ClosestQuestion(
        f"q{number}", f"group {number % 6}", found, np.zeros(len(OF_QUESTION) - 1), gold, refused=True
    )


def test_near_rows_are_shown_and_others_are_not() -> None:
    questions = [question(number) for number in range(48)]
    model = fit_closest(questions, 0.1)
    tests = held_out_rows(questions, 0.1)
    shown = [test for test in tests if test.probability >= model.thresholds["threshold"]]
    assert sum(test.right for test in shown) == 24
    assert sum(test.right for test in shown) >= RIGHT * len(shown)


def test_the_threshold_keeps_the_share_of_right_ones() -> None:
    tests = [HeldOutRows(str(at), 1 - at / 10, right=at in (0, 1, 3)) for at in range(8)]
    assert least_with_share(((test.probability, test.right) for test in tests), RIGHT) == 1 - 4 / 10
    assert least_with_share([(0.9, False)], RIGHT) == 1.0
    assert measured(tests, 0.75)["shown"] == 3

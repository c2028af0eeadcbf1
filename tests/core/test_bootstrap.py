"""Intervals are reproducible and sensible, and absent without scores."""

from __future__ import annotations

import numpy as np
import pytest

from finray.core import bootstrap
from finray.core.bootstrap import Estimate, estimate, paired_difference


def test_nothing_measured() -> None:
    assert estimate([]) == Estimate(None, None, None, 0)


def test_one_or_equal_scores_have_no_width() -> None:
    assert estimate([0.25]) == Estimate(0.25, 0.25, 0.25, 1)
    assert estimate([1.0] * 50) == Estimate(1.0, 1.0, 1.0, 50)


def test_the_same_seed_gives_the_same_interval() -> None:
    scores = [0.0, 1.0, 1.0, 0.0, 1.0]
    assert estimate(scores) == estimate(scores)


def test_the_width_is_that_of_the_normal_approximation() -> None:
    scores = [1.0] * 300 + [0.0] * 100
    result = estimate(scores)
    half = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert result.value == 0.75
    assert result.low == pytest.approx(0.75 - half, abs=0.006)
    assert result.high == pytest.approx(0.75 + half, abs=0.006)


def test_many_questions_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [1.0, 0.0, 0.5] * 20
    whole = estimate(scores)
    monkeypatch.setattr(bootstrap, "_DRAWS_AT_ONCE", 60 * 7)
    assert estimate(scores) == whole


def test_pairing_sees_a_small_steady_gain() -> None:
    random = np.random.default_rng(1)
    base = random.random(100)
    result = paired_difference((base + 0.01).tolist(), base.tolist())
    assert result.low == pytest.approx(0.01)
    assert result.n == 100
    with pytest.raises(ValueError, match="2 scores against 1"):
        paired_difference([1.0, 0.0], [1.0])

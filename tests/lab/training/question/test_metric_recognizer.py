"""The recognizer's fit, on a few metrics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from finray.lab.training.question.metric_examples import MetricPhrase, phrases, read_wordings
from finray.lab.training.question.metric_recognizer import (
    HeldOut,
    fit_recognizer,
    metrics_of,
    read,
    save_recognizer,
    shares,
    threshold,
)
from finray.models.token_states import minilm_tokens
from finray.question.measures.metric_recognizer import scored
from tests.lab.training.question.test_metric_examples import WORDINGS

FEW = ("inventory", "goodwill", "eps_diluted")


def test_a_fit_tells_metrics_apart(tmp_path: Path) -> None:
    known = [each for each in read_wordings(WORDINGS) if each.metric in FEW and each.writer in ("lay", "analyst")]
    given = list(read(phrases(known), minilm_tokens()))
    metrics = metrics_of(known)
    weights = fit_recognizer(given, metrics)
    asked = [each for each in given if each.phrase.metric != "none"]
    named = [metrics[int(scored(weights, each.x).argmax())] for each in asked]
    assert np.mean([name == each.phrase.metric for name, each in zip(named, asked, strict=True)]) > 0.8
    save_recognizer(weights, tmp_path / "weights.npz")
    assert (tmp_path / "weights.npz").stat().st_size < 1_000_000


def _said(metric: str, probability: float, *, asked: str = "none") -> HeldOut:
    return HeldOut(MetricPhrase("q", asked, "phrase", "lay"), metric, probability)


def test_the_threshold_lets_few_other_figures_pass() -> None:
    said = [_said("inventory", number / 100) for number in range(100)]
    least = threshold(said, most_wrong=0.05)
    assert sum(each.probability >= least for each in said) == 5


def test_shares_tell_right_from_wrong() -> None:
    said = [
        _said("inventory", 0.9, asked="inventory"),
        _said("goodwill", 0.9, asked="inventory"),
        _said("goodwill", 0.2),
    ]
    found = shares(said, 0.5)
    assert found["phrase"] == ([1.0, 0.0], [0.0, 1.0])
    assert found["phrase, another figure"] == ([0.0], [0.0])


def test_nothing_to_learn_from_is_an_error() -> None:
    with pytest.raises(ValueError, match="no phrases"):
        fit_recognizer([], ("none",))

"""Metrics in other words than their names, with the shipped weights and real token states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.models.question_model import question_model
from finray.question.measures.formulas import usual_names
from finray.question.measures.metric_recognizer import MetricRecognizer


@pytest.fixture(scope="module")
def recognizer() -> MetricRecognizer:
    return MetricRecognizer(question_model())


@pytest.mark.parametrize(
    ("phrase", "metric"),
    [
        ("money still to be paid to vendors", "accounts_payable"),
        ("net value of the buildings and machines it owns", "ppe_net"),
        ("what customers still owe it", "accounts_receivable"),
        ("bill for income taxes", "income_tax"),
        ("goods on the shelves that are not sold yet", "inventory"),
    ],
)
def test_other_words_for_a_metric_are_recognized(recognizer: MetricRecognizer, phrase: str, metric: str) -> None:
    found = recognizer.meant(phrase)
    assert found is not None
    assert found.metric == metric


@pytest.mark.parametrize(
    "phrase",
    [
        "operating profit of the Glimmerwand segment",
        "stores in Ohio",
        "rent due in 2025 under operating leases",
        "weighted-average exercise price of options exercised",
        "net sales from cloud services",
    ],
)
def test_another_figure_is_no_metric(recognizer: MetricRecognizer, phrase: str) -> None:
    assert recognizer.meant(phrase) is None


@given(st.text(max_size=60))
def test_any_text_can_be_read(recognizer: MetricRecognizer, phrase: str) -> None:
    found = recognizer.meant(phrase)
    assert found is None or found.metric in usual_names()

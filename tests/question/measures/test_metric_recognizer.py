"""Metrics in other words than their names, with the shipped weights and real token states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.models.token_states import minilm_tokens
from finray.question.measures.metric_recognizer import (
    MetricRecognizer,
    Recognized,
    shipped_recognizer,
)

NOTHING: list[list[tuple[int, int]]] = [[], [], [], []]


@pytest.fixture(scope="module")
def recognizer() -> MetricRecognizer:
    return MetricRecognizer()


def _recognized(recognizer: MetricRecognizer, question: str) -> Recognized | None:
    company = question.find("Torvane")
    marked = [[(company, company + len("Torvane"))] if company >= 0 else [], [], [], []]
    return recognizer.recognized(question, minilm_tokens().states(question), marked)


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("How much did Torvane still have to pay its vendors at the end of fiscal 2022?", "accounts_payable"),
        ("Torvane: net value of the buildings and machines it owns, 2021", "ppe_net"),
        ("How much money did customers still owe Torvane at the end of 2022?", "accounts_receivable"),
        ("How many cents of each dollar of sales did Torvane keep as net profit in 2021?", "net_margin"),
    ],
)  # fmt: skip
def test_other_words_for_a_metric_are_recognized(recognizer: MetricRecognizer, question: str, metric: str) -> None:
    found = _recognized(recognizer, question)
    assert found is not None
    assert found.metric == metric


@pytest.mark.parametrize(
    "question",
    [
        "What was the operating profit of Torvane's Glimmerwand segment in 2021?",
        "How many stores did Torvane operate in Ohio at the end of fiscal 2022?",
        "What rent does Torvane owe for 2025 under operating leases?",
        "What was the weighted-average exercise price of options that Torvane's staff exercised in 2021?",
    ],
)
def test_another_figure_is_no_metric(recognizer: MetricRecognizer, question: str) -> None:
    assert _recognized(recognizer, question) is None


@given(st.text(max_size=100))
def test_any_text_can_be_read(recognizer: MetricRecognizer, text: str) -> None:
    weights = replace(shipped_recognizer(), threshold=0.0, out_bias=shipped_recognizer().out_bias + _NEVER_NONE)
    found = MetricRecognizer(weights).recognized(text, minilm_tokens().states(text), NOTHING)
    assert found is None or all(0 <= start < end <= len(text) for start, end in found.pieces)


_NEVER_NONE = np.where(np.array(shipped_recognizer().metrics) == "none", -100, 0).astype(np.float32)

"""Arithmetic that questions spell out in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.question.measures.operations import readings


@pytest.mark.parametrize(
    ("text", "template", "operands"),
    [
        ("What was the ratio of warranty reserve to revenue?", "{0} / {1}", ("warranty reserve", "revenue")),
        (
            "What percentage of the total cost was made up of severance?",
            "{0} / {1}",
            ("severance", "the total cost"),
        ),
        (
            "What is the percentage of capital leases in the total liabilities?",
            "{0} / {1}",
            ("capital leases", "total liabilities"),
        ),
        (
            "What was the difference in fair value between trademarks and purchased technology?",
            "{0} - {1}",
            ("fair value trademarks", "fair value purchased technology"),
        ),
        (
            "How much more were selling expenses than marketing expenses?",
            "{0} - {1}",
            ("selling expenses", "marketing expenses"),
        ),
        ("How much of net income was paid out as dividends?", "{0} / {1}", ("dividends", "net income")),
        (
            "What share of net revenue did client incentives eat up?",
            "{0} / {1}",
            ("client incentives", "net revenue"),
        ),
        ("What was the sum of inventories and receivables?", "{0} + {1}", ("inventories", "receivables")),
        ("What was the average of basic EPS and diluted EPS?", "mean({0}, {1})", ("basic EPS", "diluted EPS")),
    ],
)
def test_operands_are_named_in_the_question(text: str, template: str, operands: tuple[str, ...]) -> None:
    assert (template, operands) in [(reading.template, reading.operands) for reading in readings(text)]


@pytest.mark.parametrize(
    "text",
    [
        "How much cash was used for acquisitions?",
        "How much was paid for income taxes?",
        "What was revenue?",
        "What was the change in research and development expense?",
        "Why did margins fall?",
        "",
    ],
)
def test_one_figure_is_no_arithmetic(text: str) -> None:
    assert readings(text) == ()


def test_a_name_with_and_in_it_is_cut_in_every_way() -> None:
    pairs = [r.operands for r in readings("What was the difference between research and development and marketing?")]
    assert ("research and development", "marketing") in pairs


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert all(reading.operands for reading in readings(text))

"""The unit that a question asks for, and what may answer it."""

from __future__ import annotations

import pytest

from finray.core.plan import Unit
from finray.core.query import AskedUnit
from finray.question.measures.units import asked_unit, fits


@pytest.mark.parametrize(
    ("question", "unit"),
    [
        ("What was Torvane's FX gain or loss for Q1 FY2024? Answer in USD millions.", "money"),
        ("What share of its revenue came from Canada?", "percent"),
        ("By what percentage did sales grow?", "percent"),
        ("What was the change in net income? Express it in percent.", "percent"),
        ("How many common shares were outstanding, in millions?", "shares"),
        ("What was diluted EPS, in USD?", "per share"),
        ("How many times did operating income cover interest?", "ratio"),
        ("How many stores did it open?", "count"),
        ("How many days did it take to collect a receivable?", "days"),
        ("What was revenue?", None),
        ("How many shares did it buy, and at what price per share?", None),
    ],
)
def test_the_unit_asked_for_is_read(question: str, unit: AskedUnit | None) -> None:
    assert asked_unit(question) == unit


@pytest.mark.parametrize(
    ("asked", "unit", "fit"),
    [
        ("ratio", "USD/share", False),
        ("ratio", "percent", True),
        ("money", "percent", False),
        ("money", "USD", True),
        ("count", "USD", False),
        (None, "USD/share", True),
    ],
)
def test_only_a_unit_that_fits_answers(asked: AskedUnit | None, unit: Unit, fit: bool) -> None:
    assert fits(asked, unit) is fit


def test_an_amount_without_a_currency_is_a_count() -> None:
    assert fits("count", "USD", money=False)
    assert not fits("money", "USD", money=False)

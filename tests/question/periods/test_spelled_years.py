"""Years in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.period import Period
from finray.question.periods.named import periods_in
from finray.question.periods.spelled_years import digit_years


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("long-lived assets in fiscal twenty-two", "long-lived assets in fiscal 2022"),
        ("the leap in fiscal twenty-seventeen?", "the leap in fiscal 2017?"),
        ("FY twenty one", "FY 2021"),
        ("sales of twenty twenty-one", "sales of 2021"),
        ("in two thousand and nine", "in 2009"),
        ("June of nineteen ninety-nine", "June of 1999"),
    ],
)
def test_a_year_in_words_is_read_in_digits(text: str, digits: str) -> None:
    assert digit_years(text) == digits


@pytest.mark.parametrize(
    "text", ["twenty-two percent", "two thousand five hundred people", "the first twenty", "ten-Q"]
)
def test_other_numbers_stay(text: str) -> None:
    assert digit_years(text) == text


def test_the_year_becomes_a_period() -> None:
    assert periods_in(digit_years("Corning's sales in fiscal twenty-two")) == (Period(2022, "FY"),)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(digit_years(text), str)

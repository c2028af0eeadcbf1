"""Periods as headings print them."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.types import Filing
from finray.filings.periods import Calendar, Heading, Period, read_balance_date, read_heading

FILING = Filing(
    "id",
    "doc",
    "uri",
    "0" * 64,
    "Sample Corp",
    "10-Q",
    period_end=dt.date(2025, 6, 27),
    fiscal_year=2025,
    fiscal_period="Q2",
    fiscal_year_end="12-31",
)


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Years Ended December 31, 2022", Heading(2022, 12, 31, 12)),
        ("Three Months Ended June 30, 2021", Heading(2021, 6, 30, 3)),
        ("26 Weeks Ended July 29, 2023", Heading(2023, 7, 29, 6)),
        ("Thirty-nine weeks ended Oct. 28, 2023", Heading(2023, 10, 28, 9)),
        ("12 Weeks Ended 9/4/2021", Heading(2021, 9, 4, 3)),
        ("2020", Heading(2020)),
        ("Fiscal 2022", Heading(2022, months=12, fiscal=True)),
        ("% change", Heading(change=True)),
    ],
)
def test_headings(text: str, heading: Heading) -> None:
    assert read_heading(text) == heading


def test_opening_balance_of_a_calendar_year_with_odd_quarters() -> None:
    calendar = Calendar(FILING, "cash_flow", "")
    assert calendar.opening(Period(dt.date(2025, 6, 27), 6), {}) == Period(dt.date(2024, 12, 31), 0)


def test_opening_balance_of_a_52_week_year() -> None:
    calendar = Calendar(Filing("id", "doc", "uri", "0" * 64, "Shop", "10-K"), "cash_flow", "")
    assert calendar.opening(Period(dt.date(2022, 9, 24), 12), {}) == Period(dt.date(2021, 9, 25), 0)


def test_balance_dates() -> None:
    assert read_balance_date("Balance at December 31, 2022") == dt.date(2022, 12, 31)
    assert read_balance_date("Balance at February 30, 2022") is None
    assert read_balance_date("Dividends declared in May 2022") is None


@given(st.text(max_size=100))
def test_any_heading_can_be_read(text: str) -> None:
    Calendar(FILING, "income", text).period(1, {1: text})
    read_balance_date(text)

"""Periods as headings print them."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.filings.tables.balance_dates import read_balance_date
from finray.filings.tables.period_headings import Heading, read_heading
from finray.filings.tables.periods import Calendar, Period

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
        ("2016 Second Quarter (a)", Heading(2016, months=3, quarter=2)),
        ("Q3 2016", Heading(2016, months=3, quarter=3)),
        ("First Lien Notes", Heading()),
        ("Fiscal Year 2019 September 30", Heading(2019, 9, 30, 12, fiscal=True, apart=True)),
        ("Trailing 4-Quarters Ended August 31, 2024", Heading(2024, 8, 31, 12)),
        ("% change", Heading(change=True)),
        ("Payments due, fiscal years ending January 31, 2018-2019", Heading(years=True)),
        ("2027–31", Heading(years=True)),
        ("Six months ended June 30, 3Q20", Heading(2020, months=3, quarter=3, coded=True)),
        ("Q2'21", Heading(2021, months=3, quarter=2, coded=True)),
        ("4Q98", Heading(1998, months=3, quarter=4, coded=True)),
        ("Change Q2'25 vs. Q2'24", Heading(months=3, change=True)),
        ("9/6/2015 - 10/3/2015", Heading(2015, 9, 6)),
    ],
)
def test_headings(text: str, heading: Heading) -> None:
    assert read_heading(text) == heading


ANNUAL = replace(
    FILING, form="10-K", period_end=dt.date(2019, 6, 30), fiscal_year=2019, fiscal_period="FY", fiscal_year_end=None
)


@pytest.mark.parametrize(
    ("titles", "heading", "end"),
    [
        ("Quarterly data (unaudited), fiscal years 2019 and 2018", "2019 First Quarter", dt.date(2018, 9, 30)),
        ("Quarterly data (unaudited), fiscal years 2019 and 2018", "2018 Third", dt.date(2018, 3, 31)),
        ("Fiscal Year Ended June 30, 2019", "Q2 2019", dt.date(2018, 12, 31)),
        ("Quarter ended", "Fiscal Year 2018 September 30", dt.date(2017, 9, 30)),
        ("Quarter ended", "March 31", dt.date(2019, 3, 31)),
        ("Quarter ended", "December 31", dt.date(2018, 12, 31)),
        ("", "Fiscal Year Ended June 30, 2019 Q1", dt.date(2018, 9, 30)),
    ],
)
def test_the_quarters_of_an_annual_report_end_at_different_days(titles: str, heading: str, end: dt.date) -> None:
    assert Calendar(ANNUAL, None, titles).period(1, {1: heading}).end == end


def test_a_date_of_digits_is_not_a_range_of_years() -> None:
    assert not read_heading("2022-12-31").years


@pytest.mark.parametrize(
    ("heading", "end"),
    [("2Q25", dt.date(2025, 6, 27)), ("1Q25", dt.date(2025, 3, 27)), ("4Q24", dt.date(2024, 12, 27))],
)
def test_quarters_by_their_code_end_at_different_days_in_a_quarterly_report_too(heading: str, end: dt.date) -> None:
    period = Calendar(FILING, "income", "Six months ended June 27,").period(1, {1: heading})
    assert period.end is not None
    assert abs(period.end - end) <= dt.timedelta(days=5)
    assert period.months == 3


def test_the_total_of_four_quarters_is_a_year() -> None:
    assert Calendar(ANNUAL, None, "").period(1, {1: "Quarter Ended 2019 Total"}) == Period(dt.date(2019, 6, 30), 12)


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

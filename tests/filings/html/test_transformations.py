"""The transformation registries: every numeric format, and the dates and flags of covers."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from finray.filings.html.transformations import (
    transformed_boolean,
    transformed_date,
    transformed_month_day,
    transformed_number,
)


@pytest.mark.parametrize(
    ("form", "text", "number"),
    [
        ("ixt:num-dot-decimal", "1,234,567.89", "1234567.89"),
        ("ixt:num-dot-decimal", " 12 345.5\n", "12345.5"),
        ("ixt:num-dot-decimal", ".75", "0.75"),
        ("ixt:numdotdecimal", "12\xa0345", "12345"),
        ("ixt:numdotdecimalin", "1,23,45,678.90", "12345678.90"),
        ("ixt:numcommadot", "1,234.5", "1234.5"),
        ("ixt:numspacedot", "1 234.5", "1234.5"),
        ("ixt:num-dot-decimal-apos", "1’234.5", "1234.5"),
        ("ixt:num-comma-decimal", "1.234.567,89", "1234567.89"),
        ("ixt:numcommadecimal", "12\xa0345,5", "12345.5"),
        ("ixt:numdotcomma", "1.234", "1234"),
        ("ixt:numcomma", "1234,5", "1234.5"),
        ("ixt:numspacecomma", "1 234,5", "1234.5"),
        ("ixt:num-comma-decimal-apos", "1'234,5", "1234.5"),
        ("ixt:num-unit-decimal", "1,234 dollars and 7 cents", "1234.07"),
        ("ixt:numunitdecimal", "5 euros 30", "5.30"),
        ("ixt:zerodash", "—", "0"),
        ("ixt:numdash", "-", "0"),
        ("ixt:fixed-zero", "no", "0"),
        ("ixt:fixed-zero", "", "0"),
        ("ixt-sec:numwordsen", "thirteen", "13"),
        ("ixt-sec:numwordsen", "Twenty-one", "21"),
        ("ixt-sec:numwordsen", "forty\u2013two", "42"),
        ("ixt-sec:numwordsen", "one hundred and five", "105"),
        ("ixt-sec:numwordsen", "three million, two hundred thousand", "3200000"),
        ("ixt-sec:numwordsen", "None", "0"),
        (None, "1,234.5", "1234.5"),
        (None, "—", "0"),
        (None, "three", "3"),
    ],
)
def test_numbers(form: str | None, text: str, number: str) -> None:
    assert transformed_number(text, form) == Decimal(number)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("ixt:zerodash", "n/a"),
        ("ixt:num-dot-decimal", ""),
        ("ixt:num-dot-decimal", "1.2.3"),
        ("ixt:num-comma-decimal", "1,234,5"),
        ("ixt:num-unit-decimal", "dollars"),
        ("ixt-sec:numwordsen", "several"),
        ("ixt-sec:numwordsen", "hundred"),
        ("ixt-sec:numwordsen", ""),
        ("ixt-sec:numinf", "unlimited"),
        ("ixt-sec:numnan", "n/m"),
        ("ixt:num-dot-decimal", "9" * 400),
        (None, "n/m"),
        (None, ""),
        (None, "1.2.3"),
    ],
)
def test_what_is_no_figure_in_its_format(form: str | None, text: str) -> None:
    assert transformed_number(text, form) is None


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("ixt:date-monthname-day-year-en", "September 3, 2024"),
        ("ixt:datedaymonthyearen", "3 September 2024"),
        ("ixt:date-month-day-year", "9/3/24"),
        ("ixt:dateslashus", "09/03/2024"),
        ("ixt:date-day-month-year", "3.9.2024"),
        ("ixt:dateslasheu", "03/09/2024"),
        ("ixt:date-year-month-day", "2024/9/3"),
        (None, "2024-09-03"),
    ],
)
def test_dates_whose_format_says_what_comes_first(form: str | None, text: str) -> None:
    assert transformed_date(text, form) == dt.date(2024, 9, 3)


@pytest.mark.parametrize("text", ["fourth quarter of 2024", "Q4 2024", "2024, last quarter"])
def test_the_end_of_a_quarter(text: str) -> None:
    assert transformed_date(text, "ixt-sec:datequarterend") == dt.date(2024, 12, 31)


def test_what_is_no_date() -> None:
    assert transformed_date("31.2.2024", "ixt:date-day-month-year") is None
    assert transformed_date("soon", "ixt:date-day-month-year") is None
    assert transformed_date("later in 2024", "ixt-sec:datequarterend") is None


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (None, "--07-04"),
        ("ixt:date-monthname-day-en", "July 4"),
        ("ixt:date-day-monthname-en", "4 July"),
        ("ixt:date-month-day", "7/4"),
        ("ixt:date-month-day", "7.4"),
        ("ixt:date-day-month", "4/7"),
        ("ixt:datedaymonth", "04.07."),
    ],
)
def test_days_of_the_year(form: str | None, text: str) -> None:
    assert transformed_month_day(text, form) == "07-04"


@pytest.mark.parametrize(
    ("form", "text", "flag"),
    [
        ("ixt:fixed-true", "Amendment No. 1", True),
        ("ixt:fixed-false", "☒", False),
        ("ixt:booleanfalse", "no", False),
        ("ixt-sec:boolballotbox", "☒", True),
        ("ixt-sec:boolballotbox", "☐", False),
        (None, "true", True),
        (None, "perhaps", None),
    ],
)
def test_flags(form: str | None, text: str, flag: bool | None) -> None:
    assert transformed_boolean(text, form) is flag

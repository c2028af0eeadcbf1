import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.dates import find_dates, first_date, month_day


@pytest.mark.parametrize(
    "text",
    ["December 31, 2015", "DECEMBER 31,2015", "Dec. 31, 2015", "31 December 2015", "12/31/2015", "2015-12-31",
     "December\n31,\n2015", "December 31st, 2015"],
)  # fmt: skip
def test_dates_are_read_as_printed(text: str) -> None:
    assert first_date(f"ended {text} or") == dt.date(2015, 12, 31)


def test_other_texts_are_not_dates() -> None:
    assert first_date("February 30, 2015 and 13/13/2015, May 2015") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--12-31", "12-31"),
        ("1231", "12-31"),
        ("September 28", "09-28"),
        ("1/31", "01-31"),
        ("0230", None),
        ("x", None),
    ],
)
def test_month_and_day(text: str, expected: str | None) -> None:
    assert month_day(text) == expected


@given(st.dates(dt.date(1950, 1, 1), dt.date(2049, 12, 31)))
def test_every_printed_date_is_found(day: dt.date) -> None:
    assert [date for _, _, date in find_dates(f"on {day:%B} {day.day}, {day.year}.")] == [day]

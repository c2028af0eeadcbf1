from __future__ import annotations

import datetime as dt

import pytest

from finray.filings.cover.cover_dates import cover_dates, period_end, report_date, transition_period
from finray.filings.tables.captions import CoverText, plain

END = dt.date(2022, 12, 31)


def cover(text: str) -> CoverText:
    return CoverText(plain(text))


@pytest.mark.parametrize(
    "printed",
    ["December 31, 2022", "DECEMBER\n31,\n2022", "Dec. 31, 2022", "31st December 2022",
     "the 31st day of December, 2022", "December 31st, 2022", "12/31/2022", "12/31/22", "2022-12-31",
     "Decernber 3l, 2O22", "Dec\xadember 31 , 20 22"],
)  # fmt: skip
def test_a_date_in_any_print(printed: str) -> None:
    assert [date for _, _, date in cover_dates(cover(f"on {printed} it"))] == [END]


@pytest.mark.parametrize("printed", ["this day of December 2022", "February 30, 2022", "December 2022", "May 1O, lOO"])
def test_other_texts_are_not_dates(printed: str) -> None:
    assert END not in [date for _, _, date in cover_dates(cover(printed))]


@pytest.mark.parametrize(
    "text",
    [
        "For the fiscal year ended December 31, 2022",
        "For the fiscal year (52 weeks) ended: December 31, 2022 Commission file number 1-2",
        "As filed with the Commission on February 3, 2023\nYear ended December 31, 2022",
        "aggregate market value at June 30, 2022\noutstanding at January 31, 2023\nfiscal year ended December 31, 2022",
        "December 31, 2022\n(Date of fiscal year end)",
        "for the transition period from July 1, 2022 to December 31, 2022",
        "FORM 10-K\nDecember 31, 2022\nACME\n(Exact name of registrant)",
        "fiscal year ended December 31, 2022\nsecond fiscal quarter ended June 30, 2022",
    ],
)
def test_the_period_is_distinguished_from_other_dates(text: str) -> None:
    assert period_end(cover(text), "10-K", 10_000) == END


def test_a_statement_on_the_next_page_does_not_outvote_the_cover() -> None:
    text = "FORM 10-Q\nDecember 31, 2022\nACME\n(Exact name of registrant)\nThree months ended December 31, 2021"
    assert period_end(cover(text), "10-Q", 60) == END


@pytest.mark.parametrize(
    "text",
    ["Date of Report (Date of earliest event reported): December 31, 2022",
     "Date of report: January 4, 2023 (December 31, 2022)", "December 31, 2022\nDate of Report (Date of earliest)"],
)  # fmt: skip
def test_the_day_of_the_earliest_event(text: str) -> None:
    assert report_date(cover(text)) == END


@pytest.mark.parametrize(
    ("printed", "stated"),
    [
        ("For the transition period from April 1, 2022 to December 31, 2022", True),
        ("for the transition period from April 1, 2022 through December 31, 2022", True),
        ("For the transition period from ________ to ________ Commission file number 1-2", False),
        ("transition period from ____ to ____ Date of report: April 1, 2022, filed December 31, 2022", False),
    ],
)
def test_a_transition_period_has_both_its_days(printed: str, stated: bool) -> None:
    expected = (dt.date(2022, 4, 1), END) if stated else None
    assert transition_period(cover(printed)) == expected

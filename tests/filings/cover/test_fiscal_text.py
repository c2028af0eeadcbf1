import datetime as dt

import pytest

from finray.filings.cover.fiscal_text import find_quarter, named_year

SATURDAY = dt.date(2023, 1, 28)


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("references to fiscal 2023 mean the year that ended on January 28, 2023.", 2023),
        ("the fiscal years ended January 28, 2023 (“fiscal 2022”) and January 29, 2022 (“fiscal 2021”)", 2022),
        ("In fiscal 2023 sales fell. Fiscal 2023 versus fiscal 2022, fiscal 2022. Outlook for fiscal 2024.", 2023),
        ("In fiscal 2022 sales fell, fiscal 2022 fiscal 2022 against fiscal 2021. In fiscal 2023 we expect", 2022),
        ("nothing", 2022),
    ],
)
def test_the_filings_own_words_name_the_year(text: str, year: int) -> None:
    assert named_year(SATURDAY, text) == year


def test_a_stray_sentence_does_not_rename_a_year_that_ends_in_summer() -> None:
    text = "rose in fiscal 2022 against the year ended June 30, 2023"
    assert named_year(dt.date(2023, 6, 30), text) == 2023
    assert named_year(dt.date(2023, 6, 30), "the year ended June 30, 2023 (“fiscal 2022”). " * 3) == 2022


def test_the_name_of_the_quarter_decides_the_year() -> None:
    text = "sales in the second quarter of fiscal 2024 against the second quarter of fiscal 2023"
    assert named_year(dt.date(2024, 2, 3), text, "Q2") == 2024


def test_years_that_end_in_december_need_no_words() -> None:
    assert named_year(dt.date(2022, 12, 31), "fiscal 2021 ended December 31, 2022") == 2022


@pytest.mark.parametrize(
    ("period_end", "text", "quarter", "year_end"),
    [
        (dt.date(2021, 3, 31), "Three months ended March 31, 2021; December 31, 2020", "Q1", dt.date(2021, 12, 31)),
        (dt.date(2022, 12, 31), "three and six months ended December 31, 2022 ... June 30, 2022", "Q2",
         dt.date(2023, 6, 30)),
        (dt.date(2023, 2, 12), "24 Weeks Ended\nFebruary 12, 2023 ... August 28, 2022", "Q2", dt.date(2023, 8, 27)),
        (dt.date(2023, 9, 30), "as of September 30, 2023 and December 31, 2022, December 31, 2022", "Q3",
         dt.date(2023, 12, 31)),
    ],
)  # fmt: skip
def test_a_quarters_place_in_its_year(period_end: dt.date, text: str, quarter: str, year_end: dt.date) -> None:
    found = find_quarter(period_end, text)
    assert found is not None
    assert (found.period, found.year_end) == (quarter, year_end)


def test_without_evidence_there_is_no_quarter() -> None:
    assert find_quarter(dt.date(2023, 9, 30), "no dates here") is None

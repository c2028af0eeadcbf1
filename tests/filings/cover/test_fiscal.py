import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.cover import fiscal
from finray.filings.cover.facts import Facts


@pytest.mark.parametrize(
    ("last_day", "year"),
    [
        (dt.date(2022, 12, 31), 2022),
        (dt.date(2016, 1, 3), 2015),  # 53 weeks that end in January
        (dt.date(2023, 1, 28), 2022),  # a retailer's Saturday
        (dt.date(2024, 2, 3), 2023),
        (dt.date(2023, 1, 31), 2023),  # a fixed January 31
        (dt.date(2023, 6, 30), 2023),
        (dt.date(2023, 5, 28), 2023),
    ],
)
def test_years_are_named_as_companies_count(last_day: dt.date, year: int) -> None:
    assert fiscal.year_by_rule(last_day) == year


@pytest.mark.parametrize(
    ("period_end", "year_end", "quarter", "year"),
    [
        (dt.date(2023, 3, 31), "12-31", "Q1", 2023),
        (dt.date(2022, 12, 31), "06-30", "Q2", 2023),
        (dt.date(2023, 9, 9), "12-31", "Q3", 2023),  # 36 weeks
        (dt.date(2023, 6, 2), "12-01", "Q2", 2023),
        (dt.date(2023, 5, 20), "01-31", "Q1", 2024),  # 16 weeks
        (dt.date(2023, 12, 30), "12-31", "Q4", 2023),
        (dt.date(2024, 1, 2), "12-31", "Q4", 2023),  # wanders past the nominal end
    ],
)
def test_quarters_of_any_year(period_end: dt.date, year_end: str, quarter: str, year: int) -> None:
    assert fiscal.fiscal_quarter(period_end, year_end) == quarter
    assert fiscal.fiscal_year(period_end, year_end) == year


@given(st.dates(dt.date(1990, 1, 1), dt.date(2040, 1, 1)), st.sampled_from(["12-31", "06-30", "02-29", "01-31"]))
def test_a_day_lies_in_the_year_that_ends_on_or_after_it(day: dt.date, year_end: str) -> None:
    end = fiscal.year_end_on_or_after(day, year_end)
    assert -16 <= (end - day).days <= 366
    assert fiscal.fiscal_quarter(day, year_end) in fiscal.QUARTERS


def test_year_end_after_a_quarter() -> None:
    assert fiscal.year_end_after(dt.date(2022, 12, 31), 6) == dt.date(2023, 6, 30)
    assert fiscal.year_end_after(dt.date(2023, 4, 29), 3) == dt.date(2024, 1, 27)


def test_a_header_with_a_year_end_gives_year_and_quarter() -> None:
    facts = Facts(form="10-Q", period_end=dt.date(2022, 12, 31), fiscal_year_end="06-30")
    completed = fiscal.complete(facts)
    assert (completed.fiscal_year, completed.fiscal_period) == (2023, "Q2")
    assert fiscal.complete(Facts(form="8-K", period_end=dt.date(2022, 5, 3))).fiscal_year is None


@pytest.mark.parametrize(
    ("form", "begun", "completed"),
    [
        ("10-K", dt.date(2024, 7, 1), ("10-KT", "06-30")),
        ("10-K/A", dt.date(2024, 10, 1), ("10-KT/A", "09-30")),
        ("10-KT", dt.date(2024, 4, 1), ("10-KT", "03-31")),
        ("10-K", dt.date(2024, 1, 1), ("10-K", "12-31")),  # a whole year, in the wrong line of the cover
        ("10-Q", dt.date(2024, 10, 1), ("10-Q", "12-31")),
    ],
)
def test_an_annual_report_on_a_part_of_a_year_is_a_transition_report(
    form: str, begun: dt.date, completed: tuple[str, str]
) -> None:
    facts = Facts(form=form, period_end=dt.date(2024, 12, 31), fiscal_year_end="12-31", transition_from=begun)
    found = fiscal.complete(facts)
    assert (found.form, found.fiscal_year_end) == completed

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.period import Period
from finray.question.periods.named import last_years_in, periods_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("revenue in FY2019", [Period(2019, "FY")]),
        ("revenue in fiscal year 2019", [Period(2019, "FY")]),
        ("did it grow between FY20 and FY21", [Period(2020, "FY"), Period(2021, "FY")]),
        ("the FY2017 - FY2019 3 year average", [Period(year, "FY") for year in (2017, 2018, 2019)]),
        ("from 2016 to 2018", [Period(year, "FY") for year in (2016, 2017, 2018)]),
        ("Q2 of FY2023", [Period(2023, "Q2")]),
        ("in Q22023", [Period(2023, "Q2")]),
        ("as of Q2'2023", [Period(2023, "Q2")]),
        ("FY2023Q1 guidance", [Period(2023, "Q1")]),
        ("in 2021 Q1", [Period(2021, "Q1")]),
        ("the second fiscal quarter of 2023", [Period(2023, "Q2")]),
        ("3Q22 results", [Period(2022, "Q3")]),
        ("the 8-K dated 1st July 2022", [Period(2022, None, dt.date(2022, 7, 1))]),
        ("on May 26, 2023", [Period(2023, None, dt.date(2023, 5, 26))]),
        ("the first nine months of fiscal 2025", [Period(2025, "Q3", months=9)]),
        ("the six months ended June 28, 2024", [Period(2024, None, dt.date(2024, 6, 28), 6)]),
        ("in the quarter ended June 28, 2024", [Period(2024, None, dt.date(2024, 6, 28), 3)]),
        ("for the fiscal year ended January 31, 2023", [Period(2023, None, dt.date(2023, 1, 31), 12)]),
        ("the first three months of 2023", [Period(2023, "Q1")]),
        (
            "at December 31, 2019 and 2018",
            [Period(2019, None, dt.date(2019, 12, 31)), Period(2018, None, dt.date(2018, 12, 31))],
        ),
        (
            "between the quarters ended January 26 and April 27, 2019",
            [Period(2019, None, dt.date(2019, 1, 26), 3), Period(2019, None, dt.date(2019, 4, 27))],
        ),
        ("the fiscal 2019 third quarter", [Period(2019, "Q3")]),
        ("the first half of fiscal 2023", [Period(2023, "Q2", months=6)]),
        ("the first quarter of 2018 and 2017", [Period(2018, "Q1"), Period(2017, "Q1")]),
        ("in the fourth quarter of 2018 vs . 2017, did", [Period(2018, "Q4"), Period(2017, "Q4")]),
        ("the second quarters of fiscal 2019 and fiscal 2018", [Period(2019, "Q2"), Period(2018, "Q2")]),
        ("Q3 2022 compared with 2021", [Period(2022, "Q3"), Period(2021, "Q3")]),
        ("first nine months of 2022 and 2021", [Period(2022, "Q3", months=9), Period(2021, "Q3", months=9)]),
        ("Q4 2022 and 2022 full-year sales", [Period(2022, "Q4"), Period(2022, "FY")]),
        ("from Q1 2022 to 2022 Q4", [Period(2022, "Q1"), Period(2022, "Q4")]),
        ("the second half of 2023 and H2 2022", [Period(2023, "Q4", months=6), Period(2022, "Q4", months=6)]),
        ("1H23 capex", [Period(2023, "Q2", months=6)]),
        ("the six months to December 31, 2022", [Period(2022, None, dt.date(2022, 12, 31), 6)]),
        ("over the 24 weeks ended June 17, 2023", [Period(2023, None, dt.date(2023, 6, 17), 6)]),
        ("the four quarters ended August 31, 2024", [Period(2024, None, dt.date(2024, 8, 31), 12)]),
        ("trailing twelve months to April 30, 2023", [Period(2023, None, dt.date(2023, 4, 30), 12)]),
        ("in the June 2019 quarter", [Period(2019, None, dt.date(2019, 6, 30), 3)]),
        ("for the quarter ended February 2020", [Period(2020, None, dt.date(2020, 2, 29), 3)]),
        ("at the end of December 2019", [Period(2019, None, dt.date(2019, 12, 31))]),
        ("in the August 2024 10-Q", [Period(2024, None, dt.date(2024, 8, 31))]),
        ("as of mid-2023", [Period(2023, None, dt.date(2023, 6, 30))]),
        ("the shares bought in June 2022", [Period(2022)]),
        ("sales for F19", [Period(2019, "FY")]),
        ("in 2022", [Period(2022)]),
        ("$2,019 million", []),
        ("a 2019.5 ratio", []),
        ("February 31, 2022", [Period(2022)]),
    ],
)
def test_reads_periods_as_people_write_them(text: str, expected: list[Period]) -> None:
    assert list(periods_in(text)) == expected


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("over the last 3 years", 3),
        ("in the past five fiscal years", 5),
        ("for ten years", None),
        ("last year", None),
        ("for all the three years", 3),
        ("in these two years", 2),
    ],
)
def test_reads_spans_of_last_years(text: str, years: int | None) -> None:
    assert last_years_in(text) == years


def test_a_period_moves_by_years_as_a_whole() -> None:
    assert Period(2024, None, dt.date(2024, 2, 29), 6).years_before(1) == Period(2023, None, dt.date(2023, 2, 28), 6)
    assert Period(2025, "Q3", months=9).years_before(2) == Period(2023, "Q3", months=9)


@given(st.text(max_size=300))
def test_any_text_has_periods_or_none(text: str) -> None:
    for period in periods_in(text):
        assert 1985 <= period.year <= 2100

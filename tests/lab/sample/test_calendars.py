from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.lab.sample.calendars import OTHERS, RETAIL, Calendar

CALENDARS = [RETAIL, *OTHERS]


@pytest.mark.parametrize(
    ("calendar", "year", "end"),
    [
        (RETAIL, 2022, dt.date(2023, 1, 28)),
        (RETAIL, 2023, dt.date(2024, 1, 27)),
        (Calendar(11, weekday=4, rule="nearest"), 2022, dt.date(2022, 12, 2)),
        (Calendar(9, weekday=5), 2023, dt.date(2023, 9, 30)),
        (Calendar(12, weekday=6, rule="nearest"), 2020, dt.date(2021, 1, 3)),
        (Calendar(6), 2022, dt.date(2022, 6, 30)),
    ],
)
def test_year_ends(calendar: Calendar, year: int, end: dt.date) -> None:
    assert calendar.year_end(year) == end


@given(st.sampled_from(CALENDARS), st.integers(2000, 2030))
def test_quarters_fill_the_year(calendar: Calendar, year: int) -> None:
    starts = [calendar.quarter_start(year, quarter) for quarter in range(1, 5)]
    ends = [calendar.quarter_end(year, quarter) for quarter in range(1, 5)]
    assert starts[0] == calendar.year_start(year) and ends[-1] == calendar.year_end(year)
    assert all(end + dt.timedelta(days=1) == start for end, start in zip(ends[:-1], starts[1:], strict=True))
    assert calendar.weeks(year) in (52, 53)

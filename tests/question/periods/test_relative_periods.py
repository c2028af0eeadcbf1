"""Periods that a question counts from others."""

from __future__ import annotations

import pytest

from finray.question.periods.relative_periods import with_counted


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("How much larger was it in 2016 than two years earlier?", ["FY 2016", "FY 2014"]),
        ("Compare Q2 2020 with three quarters before", ["Q2 2020", "Q3 2019"]),
        ("in 2017 and five years later", ["FY 2017", "FY 2022"]),
        ("revenue of 2019 and the year before", ["FY 2019"]),
        ("two years earlier", []),
        ("it rose two years earlier, not in 2016", ["FY 2016"]),
        ("the fourth quarter of 2020 against two quarters earlier", ["Q4 2020", "Q2 2020"]),
        ("the 12 weeks ended June 17, 2023 and two quarters earlier", ["3 months to 2023-06-17"]),
    ],
)
def test_periods_are_counted_from_the_one_before(question: str, periods: list[str]) -> None:
    assert [str(period) for period in with_counted(question)] == periods

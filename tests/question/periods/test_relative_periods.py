"""Periods that a question counts from others."""

from __future__ import annotations

import pytest

from finray.question.periods.relative_periods import with_counted


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("How much larger was it in 2016 than two years earlier?", ["FY 2016", "FY 2014"]),
        ("Compare Q2 2020 with three quarters before.", ["Q2 2020", "Q3 2019"]),
        ("in 2017 and five years later", ["FY 2017", "FY 2022"]),
        ("revenue of 2019 and the year before", ["FY 2019"]),
        ("two years earlier", []),
        ("In 2016, what was revenue ten years before the merger?", ["FY 2016"]),
        ("options of 2019 that expire ten years after grant?", ["FY 2019"]),
        ("In 2019, awards vest three years later", ["FY 2019"]),
        ("from 2014 to two years before 2020", ["FY 2014", "FY 2020"]),
        ("2018 vs. two years earlier than 2016", ["FY 2018", "FY 2016"]),
        ("2019 and the two years prior", ["FY 2019"]),
        ("2016 and \u017fix years earlier", ["FY 2016"]),
        ("it rose two years earlier, not in 2016", ["FY 2016"]),
        ("the fourth quarter of 2020 against two quarters earlier", ["Q4 2020", "Q2 2020"]),
        ("the 12 weeks ended June 17, 2023 and two quarters earlier", ["3 months to 2023-06-17"]),
    ],
)
def test_periods_are_counted_from_the_one_before(question: str, periods: list[str]) -> None:
    assert [str(period) for period in with_counted(question)] == periods

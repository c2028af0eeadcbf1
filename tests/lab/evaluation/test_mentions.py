"""Figures told apart from dates, citations and names."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.lab.evaluation.mentions import figures, signed_figures, years


@pytest.mark.parametrize(
    "mention",
    [
        "FY2019", "FY 2019", "fiscal year 2019", "in 2019", "2017-2019", "2019-20", "Q3 2019", "2023 Q2", "Q2'2023",
        "2Q", "December 31, 2019", "31 December 2019", "Dec. 31", "12/31/2019", "2019-12-31", "p. 12", "pages 12, 14",
        "[3]", "[1, 2]", "Note 12", "Notes 3 and 4", "Item 7", "Exhibit 99.1", "passage 3", "the 10-K", "its 10K",
        "the 3rd", "Form 8-K", "Level 3",
    ],
)  # fmt: skip
def test_what_is_no_figure(mention: str) -> None:
    assert [n.face for n in figures(f"{mention}: it was 7")] == [7]
    assert [n.face for n in figures(f"It was 7 ({mention}).")] == [7]


@pytest.mark.parametrize("figure", ["$10K", "$2,018", "$2018", "2,019", "2018%", "2019 million", "2019.5"])
def test_what_looks_like_a_year_and_is_a_figure(figure: str) -> None:
    assert len(figures(f"It was {figure} with 5 stores.")) == 2


def test_where_nothing_else_is_stated_dates_are() -> None:
    assert [n.face for n in figures("2019")] == [2019]
    assert [n.face for n in figures("The 3rd.")] == [3]


def test_a_fall_is_negative_too() -> None:
    faces = [n.face for n in signed_figures("Revenue decreased sharply by $5 million to $60 million; margin rose 2%.")]
    assert faces[:3] == [5, 60, 2]
    assert -5 in faces
    assert -2 not in faces


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("From FY2019 to FY21", {2019, 2021}),
        ("at December 31, 2020, see p. 2019", {2020}),
        ("$2,018 of 2019%", set()),
        ("2019-2021", {2019, 2021}),
    ],
)
def test_the_years_that_a_text_names(text: str, named: set[int]) -> None:
    assert years(text) == named


@given(st.text())
def test_any_text_has_figures_or_none(text: str) -> None:
    signed_figures(text)
    years(text)


@given(st.decimals(min_value=3000, max_value=10**9, places=2), st.integers(1990, 2049))
def test_a_figure_is_found_among_its_mentions(value: Decimal, year: int) -> None:
    text = f"In FY{year} (Note 3, p. 60) it was ${value:,} million, against December 31, {year - 1}."
    assert [n.face for n in figures(text)] == [value]


@pytest.mark.parametrize("run", [" ", "2019-", "note 1, ", "[1, ", "May 1 ", "down ", "Q1 "])
def test_long_runs_are_searched_in_linear_time(run: str) -> None:
    signed_figures(run * 20_000)
    years(run * 20_000)

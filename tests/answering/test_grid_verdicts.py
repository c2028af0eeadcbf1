"""What figures say in words, and that nothing is said over missing ones unawares."""

from __future__ import annotations

from finray.answering.grid_verdicts import Said, said_of
from finray.core.period import Period
from finray.question.grids import Axis, GridQuestion, Verdict

YEARS = tuple(Period(year, "FY") for year in (2019, 2020, 2021))


def said(
    verdict: Verdict, rows: dict[str, list[float | None]], *, over: Axis = "companies", lowest: bool = False
) -> Said:
    periods = YEARS[: len(next(iter(rows.values())))]
    figures = {(name, period): value for name, own in rows.items() for period, value in zip(periods, own, strict=True)}
    asked = GridQuestion(tuple(rows), (), periods, (), verdict=verdict, over=over, lowest=lowest)
    return said_of(asked, "revenue", figures, list(rows), lambda value: f"{value:g}")


def test_a_ranking_has_all_figures_and_ties() -> None:
    ranked = said("rank", {"A": [2], "B": [3], "C": [2]})
    assert ranked == Said("Revenue, FY 2019: B 3 > A 2 = C 2.", ("B", "A", "C"))
    assert said("rank", {"A": [2], "B": [3]}, lowest=True).ranking == ("A", "B")


def test_one_company_leads_in_all_periods_or_each_period_has_its_own() -> None:
    assert said("compare", {"A": [5, 6], "B": [1, 2]}).text.startswith("A has the higher revenue in both periods; ")
    assert said("best", {"A": [5], "B": [9]}).text == "B has the higher revenue; FY 2019: B 9, 4 higher than A 5."
    mixed = said("best", {"A": [5, 1], "B": [1, 2]})
    assert mixed == Said("Revenue, FY 2019: A 5, 4 higher than B 1; FY 2020: B 2, 1 higher than A 1.", ())


def test_a_missing_figure_is_named_and_leaves_no_ranking() -> None:
    some = said("best", {"A": [5], "B": [None], "C": [7]})
    assert some == Said("Revenue, FY 2019: C 7, 2 higher than A 5 (without B: no figure).", ())
    assert not said("best", {"A": [5], "B": [None]}).drawn
    assert said("best", {"A": [5], "B": [5]}).text == "Revenue, FY 2019: A and B are equal, 5."
    years = said("best", {"A": [5, None, 3]}, over="periods", lowest=True)
    assert years.text == "FY 2021: revenue of A was lowest, 3 (without FY 2020: no figure)."
    assert years.ranking == ()


def test_growth_is_relative_and_says_if_amounts_rank_otherwise() -> None:
    grown = said("growth", {"A": [100, 150], "B": [1000, 1100]})
    assert grown.ranking == ("A", "B")
    assert grown.text == "A: revenue grew fastest, FY 2019 to FY 2020: A +50.0%; B +10.0%; in amounts, B moved most."
    negative = said("growth", {"A": [100, 150], "B": [-5, 10], "C": [10, 11]})
    assert "no growth rate for B" in negative.text
    assert negative.ranking == ()
    assert not said("growth", {"A": [100, 150], "B": [None, 1]}).drawn


def test_a_rise_in_every_year_needs_every_year_and_one_fall_ends_it() -> None:
    assert said("steady", {"A": [1, 2, 3]}, over="periods").text.startswith("Yes: ")
    assert said("steady", {"A": [1, 3, 2]}, over="periods").text == (
        "No: revenue of A did not rise from FY 2020 to FY 2021 (3 to 2)."
    )
    assert not said("steady", {"A": [1, None, 3]}, over="periods").drawn

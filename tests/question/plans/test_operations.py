"""Which operation a question asks for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from finray.core.period import Period
from finray.core.plan import Formula, Measures
from finray.core.query import Query
from finray.question.plans.operations import plans_of


def _asking(*periods: Period, intents: frozenset[str] = frozenset()) -> Query:
    measures = Measures((Formula("revenue", ("revenue",), "revenue", "USD"),))
    return Query("How much?", "How much?", ("acme",), periods=periods, measures=(measures,), intents=intents)


@pytest.mark.parametrize(
    ("intents", "companies", "kinds"),
    [
        ({"which", "growth"}, ["acme"], ["which"]),
        ({"which", "yes_no", "compares"}, ["acme", "other"], ["which"]),
        ({"yes_no", "compares", "difference_anywhere"}, ["acme", "other"], ["versus"]),
        ({"difference_anywhere"}, ["acme", "other"], ["difference"]),
        (set(), ["acme", "other"], []),
        ({"cagr", "growth", "average"}, ["acme"], ["cagr"]),
        ({"average", "total", "growth"}, ["acme"], ["average"]),
        ({"total", "yes_no", "positive"}, ["acme"], ["total"]),
        ({"yes_no", "positive", "growth"}, ["acme"], ["sign"]),
        ({"yes_no", "growth"}, ["acme"], ["trend"]),
        ({"growth", "difference"}, ["acme"], ["change"]),
        ({"difference"}, ["acme"], ["change"]),
        (set(), ["acme"], ["value", "value"]),
    ],
)
def test_the_most_specific_operation_is_planned(intents: set[str], companies: list[str], kinds: list[str]) -> None:
    query = _asking(Period(2022, "FY"), Period(2023, "FY"), intents=frozenset(intents))
    assert [plan.kind for plan in plans_of(query, companies, None)] == kinds


@pytest.mark.parametrize(("operation", "kind"), [("difference", "change"), ("growth", "change"), ("value", "value")])
def test_growth_in_one_year_is_over_the_year_before(operation: str, kind: str) -> None:
    asked = replace(_asking(Period(2023, "FY"), intents=frozenset({"growth", "change"})), operation=operation)
    (plan,) = plans_of(asked, ["acme"], None)
    assert plan.kind == kind


def test_figures_of_years_that_nobody_names_are_not_planned() -> None:
    assert plans_of(_asking(Period(2023, "FY"), intents=frozenset({"several_years"})), ["acme"], None) == ()


def test_the_figures_of_all_periods_asked_for_are_listed_or_the_last_alone() -> None:
    years = (Period(2023, "FY"), Period(2022, "FY"))
    listed, alone = plans_of(_asking(*years), ("acme",), None)
    assert listed.program == alone.program == "revenue_fy2023"
    assert listed.parts == (("FY 2022", "revenue_fy2022"), ("FY 2023", "revenue_fy2023"))
    assert {operand.name for operand in listed.operands} == {"revenue_fy2022", "revenue_fy2023"}
    assert not alone.parts
    assert [operand.name for operand in alone.operands] == ["revenue_fy2023"]


def test_one_period_has_one_plan() -> None:
    (plan,) = plans_of(_asking(Period(2023, "Q2")), ("acme",), None)
    assert (plan.program, plan.parts) == ("revenue_q2_2023", ())

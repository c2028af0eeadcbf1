"""Which operation a question asks for."""

from __future__ import annotations

import itertools

from finray.core.period import Period
from finray.core.plan import Formula, Measures
from finray.core.query import Query
from finray.question.plans.operations import OPERATIONS, plans_of


def test_exactly_one_operation_holds_for_any_features() -> None:
    features = sorted(set().union(*(row.when | row.unless for row in OPERATIONS)))
    for count in range(len(features) + 1):
        for chosen in itertools.combinations(features, count):
            assert sum(row.holds(frozenset(chosen)) for row in OPERATIONS) == 1, chosen


def _asking(*periods: Period) -> Query:
    measures = Measures((Formula("revenue", ("revenue",), "revenue", "USD"),))
    return Query("How much?", "How much?", ("acme",), periods=periods, measures=(measures,))


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

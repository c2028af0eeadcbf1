"""Turns what a question measures into plans: which operation, over which companies and periods.

A table of features chooses the operation. Its order means nothing: exactly one row holds for every set of features
(tests/question/plans/test_operations.py tries them all).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from finray.core.period import Period
from finray.core.plan import Measures, Plan
from finray.core.query import Query
from finray.question.arithmetic import ProgramError
from finray.question.plans.programs import Planner

MAX_PLANS: Final = 8
_MAX_YEARS = 12


def plans_of(query: Query, companies: Sequence[str], latest: Period | None) -> tuple[Plan, ...]:
    """The plans of ``query``, the likeliest first; the tables decide which one is right.

    ``companies`` are the query's own, or those that retrieval chose. ``latest`` is the period if the question names
    none.
    """
    plans: dict[Plan, None] = {}
    for measures in query.measures if companies else ():
        for years in _open_years(query, latest):
            periods = list(years) or _periods(query, latest)
            try:
                plan = build_plan(query, measures, companies, periods)
                # A figure of one period is an answer, if the tables lack those of the others.
                alone = plan is not None and plan.kind == "value" and plan.parts
                last = build_plan(query, measures, companies, periods[-1:]) if alone else None
            except ProgramError:  # the formula in the question is too long or too deep
                continue
            for each in (plan, last):
                if each is not None:
                    plans.setdefault(each)
    return tuple(plans)[:MAX_PLANS]


def build_plan(query: Query, measures: Measures, companies: Sequence[str], periods: Sequence[Period]) -> Plan | None:
    """The plan for ``measures`` of ``companies`` over ``periods``, oldest first; None if no figure can be computed."""
    if not measures.formulas or not periods:
        return None
    planner = Planner(query, measures, companies, periods)
    features = planner.features()
    (row,) = (row for row in OPERATIONS if row.holds(features))
    return row.build(planner) if row.build is not None else None


@dataclass(frozen=True, slots=True)
class Operation:
    """Holds if all features of ``when`` and none of ``unless`` are present. Without ``build`` any figure would be
    wrong."""

    when: frozenset[str]
    unless: frozenset[str]
    build: Callable[[Planner], Plan] | None

    def holds(self, features: frozenset[str]) -> bool:
        return self.when <= features and not self.unless & features


def _row(when: Sequence[str], unless: Sequence[str], build: Callable[[Planner], Plan] | None) -> Operation:
    return Operation(frozenset(when), frozenset(unless), build)


_ONE = ("which", "many", "unknown years")
_SPANNED = (*_ONE, "cagr", "settled", "average", "total")
OPERATIONS: Final = (
    _row(["which"], [], Planner.which),
    _row(["many", "claim"], ["which"], Planner.versus),
    _row(["many", "superlative"], ["which", "claim"], Planner.highest),
    _row(["many", "apart"], ["which", "claim", "superlative"], Planner.difference),
    _row(["many"], ["which", "claim", "superlative", "apart"], None),
    _row(["unknown years"], ["which", "many"], None),
    _row(["cagr"], _ONE, Planner.cagr),
    _row(["settled"], [*_ONE, "cagr"], Planner.settled),
    _row(["average"], [*_ONE, "cagr", "settled"], Planner.average),
    _row(["total"], [*_ONE, "cagr", "settled", "average"], Planner.total),
    _row(["sign"], _SPANNED, Planner.sign),
    _row(["trend"], [*_SPANNED, "sign"], Planner.trend),
    _row(["growth"], [*_SPANNED, "sign", "trend"], Planner.change),
    _row(["two apart"], [*_SPANNED, "sign", "trend", "growth"], Planner.change),
    _row([], [*_SPANNED, "sign", "trend", "growth", "two apart"], Planner.value),
)


def in_order(periods: Sequence[Period]) -> list[Period]:
    """Years, quarters and days by when they end, oldest first, each once; a year ends after its quarters."""
    parts = {"Q1": 3, "Q2": 6, "Q3": 9, "Q4": 12, "FY": 12, None: 12}
    return sorted(
        dict.fromkeys(periods),
        key=lambda p: (p.year, p.date.month if p.date is not None else parts[p.part], p.months or 0),
    )


def _open_years(query: Query, latest: Period | None) -> list[tuple[Period, ...]]:
    """The years to compute over if the question leaves them open: an average without a year is over all years that a
    statement prints, three or two. An empty tuple otherwise."""
    if query.last_years or latest is None or "average" not in query.intents or len(query.asked) > 1:
        return [()]
    if query.asked:
        # The average of one year is that of its beginning and end; a rate or a price is an average already.
        (period,) = query.asked
        return [()] if "rate" in query.intents else [(period.years_before(1), period)]
    return [tuple(Period(latest.year - back, "FY") for back in reversed(range(count))) for count in (3, 2)]


def _periods(query: Query, latest: Period | None) -> list[Period]:
    """The periods to compute over, oldest first: quarters, days, or fiscal years."""
    quarters = {p for p in query.asked if p.part in ("Q1", "Q2", "Q3", "Q4")}
    years = sorted({p.year for p in query.asked if p.part in (None, "FY") and p.date is None})
    if quarters and not years:
        return in_order(list(quarters))
    days = {p for p in query.asked if p.date is not None}
    if days and not years:
        return sorted(days, key=lambda period: (period.date or dt.date.min, period.months or 0))
    newest = years[-1] if years else (latest.year if latest is not None else None)
    if newest is None:
        return []
    if query.last_years:
        # Growth over n years starts from the year before them.
        count = min(query.last_years, _MAX_YEARS) + bool(query.intents & {"growth", "cagr"})
        if len(years) != 2 or years[1] - years[0] + 1 != count:
            return [Period(year, "FY") for year in range(newest - count + 1, newest + 1)]
    totalled = "total" in query.intents and "moves" not in query.intents
    if len(years) == 2 and 1 < years[1] - years[0] < _MAX_YEARS and ("average" in query.intents or totalled):
        years = list(range(years[0], years[1] + 1))
    return [Period(year, "FY") for year in (years or [newest])]

"""Turns what a question measures into plans: which operation, over which companies and periods."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
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

    ``companies`` are the query's own, or those that retrieval chose. ``latest`` is the period of a question that names
    none.
    """
    plans: dict[Plan, None] = {}
    for measures in query.measures if companies else ():
        for years in _open_years(query, latest):
            periods = list(years) or _periods(query, latest)
            try:
                plan = build_plan(query, measures, companies, periods)
                # The last figure alone is an answer if the tables lack those of the other periods.
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
    build = next(build for needed, build in _OPERATIONS if needed <= features)
    return build(planner) if build is not None else None


_OPERATIONS: Final[tuple[tuple[frozenset[str], Callable[[Planner], Plan] | None], ...]] = (
    (frozenset({"which"}), Planner.which),
    (frozenset({"many", "claim"}), Planner.versus),
    (frozenset({"many", "superlative"}), Planner.highest),
    (frozenset({"many", "apart"}), Planner.difference),
    (frozenset({"many"}), None),
    (frozenset({"unknown years"}), None),
    (frozenset({"cagr"}), Planner.cagr),
    (frozenset({"settled"}), Planner.settled),
    (frozenset({"average"}), Planner.average),
    (frozenset({"total"}), Planner.total),
    (frozenset({"sign"}), Planner.sign),
    (frozenset({"trend"}), Planner.trend),
    (frozenset({"growth"}), Planner.change),
    (frozenset({"two apart"}), Planner.change),
    (frozenset(), Planner.value),
)
"""The first operation whose features (:meth:`Planner.features`) are all present is meant; None if any figure would be
wrong."""


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
        # The average of one year is that of its beginning and its end; a rate or a price is an average already.
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

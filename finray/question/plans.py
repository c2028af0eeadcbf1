"""Turns what a question measures into plans: which operation, over which companies and periods.

A table of features chooses the operation. Its order means nothing: exactly one row holds for every set of features
(tests/question/test_plans.py tries them all).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from finray.core.period import Period
from finray.core.plan import Formula, Kind, Measures, Plan
from finray.core.query import Query
from finray.question.arithmetic import ProgramError
from finray.question.intents import means_least, superlative
from finray.question.programs import ProgramWriter

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
            try:
                plan = build_plan(query, measures, companies, list(years) or _periods(query, latest))
            except ProgramError:  # the formula in the question is too long or too deep
                continue
            if plan is not None:
                plans.setdefault(plan)
    return tuple(plans)[:MAX_PLANS]


def build_plan(query: Query, measures: Measures, companies: Sequence[str], periods: Sequence[Period]) -> Plan | None:
    """The plan for ``measures`` of ``companies`` over ``periods``, oldest first; None if no figure can be computed."""
    if not measures.formulas or not periods:
        return None
    asked = _Asked(query, measures.formulas, measures, companies, periods)
    features = asked.features()
    writer = ProgramWriter(many=len(companies) > 1, phrases=measures.phrases)
    (row,) = (row for row in OPERATIONS if row.holds(features))
    return row.build(writer, asked) if row.build is not None else None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the choice and the program of an operation depend on."""

    query: Query
    formulas: tuple[Formula, ...]
    measures: Measures
    companies: Sequence[str]
    periods: Sequence[Period]

    @property
    def formula(self) -> Formula:
        return self.formulas[0]

    def features(self) -> frozenset[str]:
        """What OPERATIONS choose by: intents of the query, and numbers of companies and periods."""
        intents = self.query.intents
        span = len(self.periods) > 1
        moved = span and bool(intents & {"moves", "average"})
        features = {
            "which": "which" in intents and len(self.formulas) == 1,
            "many": len(self.companies) > 1,
            "claim": len(self.companies) == 2 and {"yes_no", "compares"} <= intents,
            "superlative": "superlative" in intents,
            "apart": len(self.companies) == 2 and "difference_anywhere" in intents,
            "unknown years": not span and "several_years" in intents,
            "cagr": span and "cagr" in intents,
            "settled": self.measures.settled and not moved,
            "average": span and "average" in intents,
            "total": span and "total" in intents and not intents & {"growth", "apart"},
            "sign": "yes_no" in intents and bool(intents & {"positive", "negative"}),
            "trend": {"yes_no", "growth"} <= intents,
            "growth": "growth" in intents
            and (span or bool(intents & {"percent", "moves"}) or self.formula.unit == "percent"),
            "two apart": len(self.periods) == 2 and "difference" in intents,
        }
        return frozenset(name for name, holds in features.items() if holds)

    def in_percent(self) -> bool:
        return "percent_anywhere" in self.query.intents and self.formula.unit != "percent"


_Build = Callable[[ProgramWriter, _Asked], Plan]


@dataclass(frozen=True, slots=True)
class Operation:
    """Holds if all features of ``when`` and none of ``unless`` are present. Without ``build`` any figure would be
    wrong."""

    when: frozenset[str]
    unless: frozenset[str]
    build: _Build | None

    def holds(self, features: frozenset[str]) -> bool:
        return self.when <= features and not self.unless & features


def _row(when: Sequence[str], unless: Sequence[str], build: _Build | None) -> Operation:
    return Operation(frozenset(when), frozenset(unless), build)


def _which(writer: ProgramWriter, asked: _Asked) -> Plan:
    lowest = bool(asked.query.intents & {"lower", "minimum"})
    periods = asked.periods if len(asked.companies) == 1 else asked.periods[-1:]
    return writer.which(asked.formula, asked.companies, periods, lowest)


def _versus(writer: ProgramWriter, asked: _Asked) -> Plan:
    return writer.versus(asked.formula, asked.companies, asked.periods[-1], "lower" in asked.query.intents)


def _highest(writer: ProgramWriter, asked: _Asked) -> Plan:
    found = superlative(asked.query.text)
    assert found is not None
    # The metric after "highest" ranks; the other one is asked for.
    starts = {span.value: span.start for span in asked.query.spans if span.kind == "metric"}
    after = [formula for formula in asked.formulas if starts.get(formula.key, -1) >= found.end()]
    ranking = after[0] if after else asked.formula
    others = [formula for formula in asked.formulas if formula is not ranking]
    metrics = (ranking, others[0] if others else ranking)
    return writer.highest(metrics, asked.companies, asked.periods[-1], means_least(found.group()))


def _difference(writer: ProgramWriter, asked: _Asked) -> Plan:
    percent = "percent_anywhere" in asked.query.intents
    return writer.difference(asked.formula, asked.companies, asked.periods[-1], percent)


def _over_periods(kind: Kind) -> _Build:
    return lambda writer, asked: writer.over(asked.formula, asked.companies[0], asked.periods, kind)


def _settled(writer: ProgramWriter, asked: _Asked) -> Plan:
    return replace(_value(writer, asked), spelled=True)


def _sign(writer: ProgramWriter, asked: _Asked) -> Plan:
    return writer.single(asked.formula, asked.companies[0], asked.periods[-1], "sign")


def _trend(writer: ProgramWriter, asked: _Asked) -> Plan:
    plan = writer.over(asked.formula, asked.companies[0], _first_and_last(asked.periods), "trend")
    return replace(plan, lowest="falls" in asked.query.intents)


def _change(writer: ProgramWriter, asked: _Asked) -> Plan:
    kind: Kind = "growth" if asked.in_percent() else "change"
    return writer.over(asked.formula, asked.companies[0], _first_and_last(asked.periods), kind)


def _value(writer: ProgramWriter, asked: _Asked) -> Plan:
    return writer.single(asked.formula, asked.companies[0], asked.periods[-1], "value")


_ONE = ("which", "many", "unknown years")
_SPANNED = (*_ONE, "cagr", "settled", "average", "total")
OPERATIONS: Final = (
    _row(["which"], [], _which),
    _row(["many", "claim"], ["which"], _versus),
    _row(["many", "superlative"], ["which", "claim"], _highest),
    _row(["many", "apart"], ["which", "claim", "superlative"], _difference),
    _row(["many"], ["which", "claim", "superlative", "apart"], None),
    _row(["unknown years"], ["which", "many"], None),
    _row(["cagr"], _ONE, _over_periods("cagr")),
    _row(["settled"], [*_ONE, "cagr"], _settled),
    _row(["average"], [*_ONE, "cagr", "settled"], _over_periods("average")),
    _row(["total"], [*_ONE, "cagr", "settled", "average"], _over_periods("total")),
    _row(["sign"], _SPANNED, _sign),
    _row(["trend"], [*_SPANNED, "sign"], _trend),
    _row(["growth"], [*_SPANNED, "sign", "trend"], _change),
    _row(["two apart"], [*_SPANNED, "sign", "trend", "growth"], _change),
    _row([], [*_SPANNED, "sign", "trend", "growth", "two apart"], _value),
)


def _open_years(query: Query, latest: Period | None) -> list[tuple[Period, ...]]:
    """The years to compute over if the question leaves them open: an average without a year is over all years that a
    statement prints, three or two. An empty tuple otherwise."""
    if query.last_years or latest is None or "average" not in query.intents or len(query.periods) > 1:
        return [()]
    if query.periods:
        # The average of one year is that of its beginning and end; a rate or a price is an average already.
        (period,) = query.periods
        return [()] if "rate" in query.intents else [(period.years_before(1), period)]
    return [tuple(Period(latest.year - back, "FY") for back in reversed(range(count))) for count in (3, 2)]


def _periods(query: Query, latest: Period | None) -> list[Period]:
    """The periods to compute over, oldest first: quarters, days, or fiscal years."""
    quarters = {p for p in query.periods if p.part in ("Q1", "Q2", "Q3", "Q4")}
    years = sorted({p.year for p in query.periods if p.part in (None, "FY") and p.date is None})
    if quarters and not years:
        return sorted(quarters)
    days = {p for p in query.periods if p.date is not None}
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


def _first_and_last(periods: Sequence[Period]) -> list[Period]:
    """The first and last of ``periods``; a single period follows the one a year before."""
    if len(periods) == 1:
        return [periods[0].years_before(1), periods[0]]
    return [periods[0], periods[-1]]

"""Plans of the operations on figures: programs over operands, which compute a metric of given companies and periods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from finray.core.period import Period
from finray.core.plan import Formula, Kind, Measures, Operand, Plan, Unit
from finray.core.query import Query
from finray.filings.tables.canonical import canonical_items
from finray.question.arithmetic import names, substituted
from finray.question.intents import means_least, superlative
from finray.question.measures.formulas import at_period

_MOVING = frozenset({"growth", "difference"})
"""Operations of questions for a change, by the trained reader."""
_MOST_LISTED = 6
"""Most periods whose figures an answer lists."""
Parts = tuple[tuple[str, str], ...]
"""(company or period, program) of each figure shown beside the result."""


class Planner:
    """Writes one plan for ``measures`` of ``companies`` over ``periods``, oldest first, and collects its operands."""

    def __init__(self, query: Query, measures: Measures, companies: Sequence[str], periods: Sequence[Period]) -> None:
        self._query = query
        self._measures = measures
        self._companies = companies
        self._periods = periods
        self._formula = measures.formulas[0]
        asked = query.shape.unit
        in_percent = asked == "percent" if asked is not None else "percent_anywhere" in query.intents
        self._in_percent = in_percent and self._formula.unit != "percent"
        self._operands: dict[str, Operand] = {}

    def features(self) -> frozenset[str]:
        """What the choice of an operation depends on: the query's intents, and how many companies and periods."""
        intents = self._query.intents
        span = len(self._periods) > 1
        moved = span and bool(intents & {"moves", "average"})
        features = {
            "which": "which" in intents and len(self._measures.formulas) == 1,
            "many": len(self._companies) > 1,
            "claim": len(self._companies) == 2 and {"yes_no", "compares"} <= intents,
            "superlative": "superlative" in intents,
            "apart": len(self._companies) == 2 and "difference_anywhere" in intents,
            "unknown years": not span and "several_years" in intents,
            "cagr": span and "cagr" in intents,
            "settled": self._measures.settled and not moved,
            "average": span and "average" in intents,
            "total": span and "total" in intents and not intents & {"growth", "apart"},
            "sign": "yes_no" in intents and bool(intents & {"positive", "negative"}),
            "trend": {"yes_no", "growth"} <= intents,
            "growth": "growth" in intents
            and (
                span
                or bool(intents & {"percent", "moves"})
                or self._formula.unit == "percent"
                or self._query.operation in _MOVING
            ),
            "two apart": len(self._periods) == 2 and "difference" in intents,
        }
        return frozenset(name for name, holds in features.items() if holds)

    def value(self) -> Plan:
        """The latest figure, with those of the other periods that the question names beside it."""
        named = 1 < len(self._periods) <= _MOST_LISTED and len(self._query.asked) == len(self._periods)
        return self._plan("value", self._newest(), self._by_period(self._periods) if named else ())

    def settled(self) -> Plan:
        return replace(self._plan("value", self._newest()), spelled=True)

    def sign(self) -> Plan:
        return self._plan("sign", self._newest())

    def average(self) -> Plan:
        parts = self._by_period(self._periods)
        return self._plan("average", f"mean({_listed(parts)})", parts)

    def total(self) -> Plan:
        parts = self._by_period(self._periods)
        return self._plan("total", f"sum({_listed(parts)})", parts)

    def cagr(self) -> Plan:
        parts = self._by_period(self._periods)
        years = self._periods[-1].year - self._periods[0].year
        return self._plan("cagr", f"cagr({parts[0][1]}, {parts[-1][1]}, {years})", parts, unit="percent")

    def trend(self) -> Plan:
        (_, old), (_, new) = parts = self._first_and_last()
        return self._plan("trend", f"({new}) - ({old})", parts, lowest="falls" in self._query.intents)

    def change(self) -> Plan:
        (_, old), (_, new) = parts = self._first_and_last()
        if self._in_percent:
            return self._plan("growth", f"growth({old}, {new})", parts, unit="percent")
        return self._plan("change", f"({new}) - ({old})", parts)

    def which(self) -> Plan:
        lowest = bool(self._query.intents & {"lower", "minimum"})
        parts = self._by_company() if len(self._companies) > 1 else self._by_period(self._periods)
        return self._plan("which", f"{'min' if lowest else 'max'}({_listed(parts)})", parts, lowest=lowest)

    def versus(self) -> Plan:
        (_, first), (_, second) = parts = self._by_company()
        return self._plan("versus", f"({first}) - ({second})", parts, lowest="lower" in self._query.intents)

    def difference(self) -> Plan:
        (_, first), (_, second) = parts = self._by_company()
        if self._in_percent:
            return self._plan("difference", f"difference({first}, {second})", parts, unit="percent")
        return self._plan("difference", f"({first}) - ({second})", parts)

    def highest(self) -> Plan:
        """The metric after "highest" ranks the companies; the other one is the answer."""
        found = superlative(self._query.text)
        assert found is not None
        formulas = self._measures.formulas
        starts = {span.value: span.start for span in self._query.spans if span.kind == "metric"}
        ranking = next((each for each in formulas if starts.get(each.key, -1) >= found.end()), self._formula)
        asked = next((formula for formula in formulas if formula is not ranking), ranking)
        period = self._periods[-1]
        choose = tuple(
            (company, self._program(ranking, company, period), self._program(asked, company, period))
            for company in self._companies
        )
        parts = tuple((company, rank) for company, rank, _ in choose)
        operands, lowest = tuple(self._operands.values()), means_least(found.group())
        return Plan("highest", "", asked.unit, asked.names[0], operands, parts, ranking.unit, choose, lowest)

    def _plan(
        self, kind: Kind, program: str, parts: Parts = (), *, unit: Unit | None = None, lowest: bool = False
    ) -> Plan:
        own, operands = self._formula.unit, tuple(self._operands.values())
        part_unit = own if parts else "USD"
        return Plan(kind, program, unit or own, self._formula.names[0], operands, parts, part_unit, lowest=lowest)

    def _newest(self) -> str:
        return self._program(self._formula, self._companies[0], self._periods[-1])

    def _by_company(self) -> Parts:
        return tuple((company, self._program(self._formula, company, self._periods[-1])) for company in self._companies)

    def _by_period(self, periods: Sequence[Period]) -> Parts:
        return tuple((str(period), self._program(self._formula, self._companies[0], period)) for period in periods)

    def _first_and_last(self) -> Parts:
        """The figures of the first and last period; a single period is compared with the one a year before."""
        first = self._periods[0] if len(self._periods) > 1 else self._periods[0].years_before(1)
        return self._by_period([first, self._periods[-1]])

    def _program(self, formula: Formula, company: str, period: Period) -> str:
        """The program of ``formula`` for ``company`` and ``period``; adds its operands to the plan's."""
        shifted = at_period(formula.expression)
        labels: dict[str, str] = {}
        for name in names(shifted):
            item, _, back = name.rpartition("__")
            at = period.years_before(int(back))
            label = f"{item}_{period_label(at)}"
            if len(self._companies) > 1:
                label += "_" + re.sub(r"\W", "_", company)
            phrase = self._measures.phrases.get(item)
            wording = phrase.text if phrase is not None else canonical_items()[item].names[0]
            self._operands.setdefault(label, Operand(label, company, item, at, wording, phrase))
            labels[name] = label
        return substituted(shifted, labels)


def _listed(parts: Parts) -> str:
    return ", ".join(program for _, program in parts)


def period_label(period: Period) -> str:
    """``period`` for the name of an operand: "fy2022", "q2_2023", "6m_2024_06_28"."""
    length = f"{period.months}m_" if period.months is not None else ""
    if period.date is not None:
        return f"{length}{period.date:%Y_%m_%d}"
    return f"fy{period.year}" if period.part in (None, "FY") else f"{length}{(period.part or '').lower()}_{period.year}"

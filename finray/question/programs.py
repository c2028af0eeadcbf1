"""Writes programs over operands, which compute a metric of given companies and periods."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from finray.core.period import Period
from finray.core.plan import Formula, Kind, Operand, Phrase, Plan, Unit
from finray.filings.canonical import canonical_items
from finray.question.arithmetic import names
from finray.question.formulas import at_period

_WORD = re.compile(r"\w+")


class ProgramWriter:
    """Writes one plan and collects its operands. With ``many`` companies, names of operands include the company."""

    def __init__(self, *, many: bool, phrases: Mapping[str, Phrase]) -> None:
        self._many = many
        self._phrases = phrases
        self._operands: dict[str, Operand] = {}

    def single(self, formula: Formula, company: str, period: Period, kind: Kind) -> Plan:
        program = self._program(formula, company, period)
        return self._plan(kind, program, formula.unit, formula.names[0])

    def over(self, formula: Formula, company: str, periods: Sequence[Period], kind: Kind) -> Plan:
        programs = [self._program(formula, company, period) for period in periods]
        parts = tuple((str(period), program) for period, program in zip(periods, programs, strict=True))
        old, new = programs[0], programs[-1]
        results: dict[str, tuple[str, Unit]] = {
            "growth": (f"growth({old}, {new})", "percent"),
            "change": (f"({new}) - ({old})", formula.unit),
            "trend": (f"({new}) - ({old})", formula.unit),
            "average": (f"mean({', '.join(programs)})", formula.unit),
            "total": (f"sum({', '.join(programs)})", formula.unit),
            "cagr": (f"cagr({old}, {new}, {periods[-1].year - periods[0].year})", "percent"),
        }
        program, unit = results[kind]
        return self._plan(kind, program, unit, formula.names[0], parts, formula.unit)

    def difference(self, formula: Formula, companies: Sequence[str], period: Period, percent: bool) -> Plan:
        programs = [self._program(formula, company, period) for company in companies]
        parts = tuple(zip(companies, programs, strict=True))
        program, unit = f"({programs[0]}) - ({programs[1]})", formula.unit
        if percent and formula.unit != "percent":
            program, unit = f"difference({programs[0]}, {programs[1]})", "percent"
        return self._plan("difference", program, unit, formula.names[0], parts, formula.unit)

    def highest(self, metrics: tuple[Formula, Formula], companies: Sequence[str], period: Period, lowest: bool) -> Plan:
        ranking, asked = metrics
        choose = tuple(
            (company, self._program(ranking, company, period), self._program(asked, company, period))
            for company in companies
        )
        parts = tuple((company, rank) for company, rank, _ in choose)
        return self._plan("highest", "", asked.unit, asked.names[0], parts, ranking.unit, choose, lowest)

    def which(self, formula: Formula, companies: Sequence[str], periods: Sequence[Period], lowest: bool) -> Plan:
        programs = [
            (company if len(companies) > 1 else str(period), self._program(formula, company, period))
            for company in companies
            for period in periods
        ]
        best = f"{'min' if lowest else 'max'}({', '.join(program for _, program in programs)})"
        parts = tuple(programs)
        return self._plan("which", best, formula.unit, formula.names[0], parts, formula.unit, lowest=lowest)

    def versus(self, formula: Formula, companies: Sequence[str], period: Period, less: bool) -> Plan:
        programs = [self._program(formula, company, period) for company in companies]
        difference = f"({programs[0]}) - ({programs[1]})"
        parts = tuple(zip(companies, programs, strict=True))
        return self._plan("versus", difference, formula.unit, formula.names[0], parts, formula.unit, lowest=less)

    def _program(self, formula: Formula, company: str, period: Period) -> str:
        shifted = at_period(formula.expression)
        labels: dict[str, str] = {}
        for name in names(shifted):
            item, _, back = name.rpartition("__")
            at = period.years_before(int(back))
            label = f"{item}_{_label(at)}"
            if self._many:
                label += "_" + re.sub(r"\W", "_", company)
            self._operands.setdefault(label, self._operand(label, company, item, at))
            labels[name] = label
        return _WORD.sub(lambda word: labels.get(word[0], word[0]), shifted)

    def _operand(self, name: str, company: str, item: str, period: Period) -> Operand:
        phrase = self._phrases.get(item)
        wording = phrase.text if phrase is not None else canonical_items()[item].names[0]
        return Operand(name, company, item, period, wording, phrase)

    def _plan(
        self,
        kind: Kind,
        program: str,
        unit: Unit,
        metric: str,
        parts: tuple[tuple[str, str], ...] = (),
        part_unit: Unit = "USD",
        choose: tuple[tuple[str, str, str], ...] = (),
        lowest: bool = False,
    ) -> Plan:
        return Plan(kind, program, unit, metric, tuple(self._operands.values()), parts, part_unit, choose, lowest)


def _label(period: Period) -> str:
    """``period`` for the name of an operand: "fy2022", "q2_2023", "6m_2024_06_28"."""
    length = f"{period.months}m_" if period.months is not None else ""
    if period.date is not None:
        return f"{length}{period.date:%Y_%m_%d}"
    return f"fy{period.year}" if period.part in (None, "FY") else f"{length}{(period.part or '').lower()}_{period.year}"

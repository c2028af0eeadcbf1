"""Answers a judgement: computes its ratios from the statements, applies the criterion, and shows every figure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from finray.answering.cells.operands import find_operand
from finray.answering.plans.computed import cited, evidence_of, shown_program
from finray.answering.plans.coverage import cover
from finray.answering.plans.wording import asked_value, shown
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.plan import Formula, Found, Measures, Operand, Unit
from finray.core.predictions import Answer
from finray.core.query import Query, Shape
from finray.filings.tables.canonical import canonical_items
from finray.index.reading.facts import FilingFacts
from finray.question.arithmetic import ProgramError, evaluate, names
from finray.question.measures.formulas import line_items
from finray.question.plans.judgement_criteria import Ratio, Without, criteria
from finray.question.plans.judgements import Judgement
from finray.question.plans.programs import Planner

_SURPLUS = re.compile(r"\b(?:surplus|shortfall|gap|deficit|by how much|left over)\b", re.I)
_PLAIN = Shape(None, None)
_SMALL_RATIO = 0.2
"""Smaller ratios are shown in percent too."""


@dataclass(frozen=True, slots=True, eq=False)
class _Computed:
    """A ratio with its ``values`` (period, value), oldest first; ``program`` is that of the last."""

    ratio: Ratio
    values: tuple[tuple[str, float], ...]
    program: str
    found: Mapping[str, Found]

    @property
    def unit(self) -> Unit:
        return self.ratio.formula.unit

    @property
    def now(self) -> float:
        return self.values[-1][1]

    @property
    def moved(self) -> float:
        return self.now - self.values[0][1]

    def at(self, which: int, shape: Shape) -> str:
        """The value number ``which`` in words."""
        value = self.values[which][1]
        if self.unit == "ratio" and abs(value) >= _SMALL_RATIO:
            return f"{value:,.{2 if shape.decimals is None else shape.decimals}f}"
        return shown(value, self.unit, shape)


class JudgedCompany:
    """The figures of one company for a judgement, from the filings of ``passages``."""

    def __init__(
        self,
        query: Query,
        company: str,
        periods: Sequence[Period],
        passages: Sequence[Passage],
        facts: FilingFacts,
    ) -> None:
        """``periods`` are those of the question, or the latest, oldest first."""
        self._query = replace(query, shape=replace(query.shape, unit=None))
        self._company, self._periods = company, periods
        self._passages, self._facts = passages, facts

    def answer(self, judgement: Judgement) -> Answer | None:
        """None if the figures that decide are missing."""
        trend = judgement.trend
        computed = self._all_computed(judgement.ratios, trend=trend)
        if trend and not computed and judgement.static:
            computed = self._all_computed(judgement.ratios, trend=False)
        deciding = [c for c in computed if c.ratio.yes is not None] if judgement.static else computed
        if not deciding:
            return self.meaningless([ratio.formula for ratio in judgement.ratios if not ratio.optional])
        first = deciding[0]
        parts: list[str] = []
        if judgement.static:
            parts.append(self._level(judgement, deciding))
        if trend and any(len(c.values) > 1 for c in computed):
            moving = [c for c in computed if len(c.values) > 1]
            parts.append(self._movement(judgement, moving, led=not judgement.static))
            computed = list(dict.fromkeys([*deciding, *moving]))
        shown_only = [c for c in computed if c not in deciding]
        if shown_only and judgement.static:
            parts.append("Also: " + "; ".join(self._shown(c) for c in shown_only) + ".")
        parts.append(self._figures(computed))
        found = {name: item for c in computed for name, item in c.found.items()}
        evidence, grounded = evidence_of(found.values(), self._passages, self._facts)
        value, unit, program = self._value(judgement, first)
        return Answer(
            " ".join(parts),
            "answered",
            value,
            unit,
            program=shown_program(program, found),
            evidence=evidence,
            operands=tuple(cited(name, item) for name, item in found.items()),
            grounded=grounded,
        )

    def meaningless(self, wanted: Sequence[Formula]) -> Answer | None:
        """An answer that the ratios mean nothing for the company, if its statements show that."""
        items = dict.fromkeys(item for formula in wanted for item in line_items(formula) if item in canonical_items())
        for without in criteria().withouts:
            if without.item not in items or (shows := self._shows_absence(without)) is None:
                continue
            evidence, grounded = evidence_of(shows.values(), self._passages, self._facts)
            printed = "; ".join(f"{canonical_items()[o.operand.item].names[0]} {_amount(o)}" for o in shows.values())
            name = next(f.names[0] for f in wanted if without.item in line_items(f))
            company = self._facts.company_name(self._company)
            text = f"{_capital(name)} is no meaningful measure for {company}: {without.because} (it prints {printed})."
            cells = tuple(cited(label, item) for label, item in shows.items())
            return Answer(text, "answered", evidence=evidence, operands=cells, grounded=grounded)
        return None

    def _shows_absence(self, without: Without) -> dict[str, Found] | None:
        """The rows that show that the statement lacks the item; None if it has it or was not read."""
        if self._any((without.item, *without.also)):
            return None
        present = self._any(without.present)
        if len(present) < len(without.present):
            return None
        marks = self._any(without.marks)
        if without.marks:
            return dict(itertools.islice(marks.items(), 2)) or None
        return dict(itertools.islice(present.items(), 1))

    def _any(self, items: Sequence[str]) -> dict[str, Found]:
        period = self._periods[-1]
        line_items = self._facts.line_items({p.filing_id for p in self._passages})
        filings = [self._facts.filing(each) for each in line_items if self._facts.company_of(each) == self._company]
        operands = (
            Operand(f"{item}_{period.year}", self._company, item, period, canonical_items()[item].names[0])
            for item in items
        )
        found = ((operand.name, find_operand(operand, filings, line_items)) for operand in operands)
        return {name: hit for name, hit in found if hit is not None}

    def _all_computed(self, ratios: Sequence[Ratio], *, trend: bool) -> list[_Computed]:
        return [computed for ratio in ratios if (computed := self._computed(ratio, trend=trend)) is not None]

    def _computed(self, ratio: Ratio, *, trend: bool) -> _Computed | None:
        planner = Planner(self._query, Measures((ratio.formula,)), (self._company,), self._periods)
        try:
            plan = planner.trend() if trend else planner.value()
            coverage = cover(self._query, plan, self._passages, self._facts, anywhere=True)
            if coverage.absent or len({f.currency for f in coverage.found.values()}) > 1:
                return None
            values = {name: item.value for name, item in coverage.found.items()}
            parts = plan.parts if trend else ((str(self._periods[-1]), plan.program),)
            at = tuple((label, evaluate(program, values)) for label, program in parts)
        except ProgramError:
            return None
        used = {name: coverage.found[name] for _, program in parts for name in names(program)}
        return _Computed(ratio, at, parts[-1][1], used)

    def _level(self, judgement: Judgement, deciding: Sequence[_Computed]) -> str:
        topic = judgement.topic
        assert topic is not None
        votes = {c.ratio.vote(c.now) for c in deciding}
        verdict = 1 if votes <= {0, 1} and 1 in votes else -1 if votes <= {0, -1} and -1 in votes else 0
        found = {1: topic.yes, -1: topic.no, 0: topic.mixed}[verdict]
        good = -verdict if topic.negative else verdict
        agrees = (good if judgement.quality else verdict) * judgement.claim
        lead = {1: f"Yes, {found}", -1: f"No, {found}", 0: _capital(found)}[agrees]
        criterion = (
            f" (finray calls {'; '.join(c.ratio.says for c in deciding)})" if topic.name not in ("", "cover") else ""
        )
        figures = "; ".join(self._shown(c) for c in deciding)
        if judgement.surplus is not None:
            figures += f", {self._surplus_in_words(judgement.surplus, deciding[0])}"
        return f"{lead}: {figures}{criterion}."

    def _movement(self, judgement: Judgement, moving: Sequence[_Computed], *, led: bool) -> str:
        signs = [_sign(c.moved) * (-1 if judgement.quality and c.ratio.lower else 1) for c in moving]
        sign = signs[0] if judgement.topic is not None or len(set(signs)) == 1 else 0
        agrees = sign * judgement.claim
        neutral = ("Unchanged", "Better", "Worse") if judgement.quality else ("Unchanged", "Up", "Down")
        mixed = sign == 0 and any(signs)
        lead = "Mixed" if mixed else {1: "Yes", -1: "No", 0: neutral[sign]}[agrees]
        figures = "; ".join(self._change(c) for c in moving)
        return f"{lead}: {figures}." if led else f"{_capital(figures)}."

    def _change(self, c: _Computed) -> str:
        (before, _), (after, _) = c.values[0], c.values[-1]
        verb = {1: "rose", -1: "fell", 0: "did not change"}[_sign(c.moved)]
        shape = self._shape(c)
        by = ""
        if c.moved and c.unit == "percent":
            by = f", by {abs(c.moved) * 100:.1f} percentage points"
        elif c.moved and c.values[0][1]:
            by = f", by {abs(c.moved / c.values[0][1]) * 100:.1f}%"
        name = c.ratio.formula.names[0]
        return f"{name} {verb} from {c.at(0, shape)} ({before}) to {c.at(-1, shape)} ({after}){by}"

    def _shown(self, c: _Computed) -> str:
        shape = self._shape(c)
        return f"{c.ratio.formula.names[0]} {c.at(-1, shape)} ({c.values[-1][0]})"

    def _figures(self, computed: Sequence[_Computed]) -> str:
        """The figures that the ratios are made of, by period."""
        by_period: dict[str, dict[str, str]] = {}
        for c in computed:
            for found in c.found.values():
                amount = _amount(found, self._shape(c))
                by_period.setdefault(str(found.operand.period), {})[found.operand.wording] = amount
        listed = (
            f"{period}: {', '.join(f'{wording} {amount}' for wording, amount in figures.items())}"
            for period, figures in sorted(by_period.items(), reverse=True)
        )
        return f"Figures for {'; '.join(listed)}."

    def _surplus_in_words(self, surplus: tuple[str, str], c: _Computed) -> str:
        left = self._left(surplus, c)
        return (
            f"{shown(abs(left), 'USD', self._shape(c))} {'more than' if left >= 0 else 'short of'} what has to be paid"
        )

    def _left(self, surplus: tuple[str, str], c: _Computed) -> float:
        """What pays less what has to be paid."""
        values = {f.operand.item: f.value for f in c.found.values() if f.operand.period == self._periods[-1]}
        pays, due = surplus
        return evaluate(f"({pays}) - ({due})", values)

    def _value(self, judgement: Judgement, first: _Computed) -> tuple[float, str, str]:
        """The figure that decides, its unit for machines, and its program: a level, a change, or a surplus."""
        shape = self._shape(first)
        if judgement.surplus is not None and _SURPLUS.search(self._query.question):
            value, unit = asked_value(self._left(judgement.surplus, first), "USD", shape)
            return value, unit, first.program
        moves = not judgement.static and len(first.values) > 1
        value, unit = asked_value(first.moved if moves else first.now, first.unit, shape)
        return value, unit, first.program

    def _shape(self, c: _Computed) -> Shape:
        currency = next((f.currency for f in c.found.values() if f.currency), "USD")
        large = any(abs(f.value) >= 1e6 for f in c.found.values() if f.unit == "USD")
        return replace(
            self._query.shape, currency=currency, scale=self._query.shape.scale or ("million" if large else None)
        )


def _amount(found: Found, shape: Shape = _PLAIN) -> str:
    return shown(found.value, found.unit, replace(shape, currency=found.currency or shape.currency, decimals=None))


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

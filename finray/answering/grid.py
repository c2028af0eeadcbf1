"""Answers questions over several companies, periods and items: every figure with its cell, and what they say in words.

A figure of one period is found as for any other question (:mod:`finray.answering.plans.coverage`); those of a row of
the grid are of one line (:mod:`finray.answering.cells.one_line`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from finray.answering.asked_items import asked_items
from finray.answering.cells.one_line import Series, in_one_line
from finray.answering.cells.operands import has_filing
from finray.answering.confidence import ConfidenceModel, signals
from finray.answering.grid_verdicts import Said, over_names, said_of
from finray.answering.plans.computed import cited, evidence_of, shape_of
from finray.answering.plans.coverage import OperandSearch
from finray.answering.plans.wording import asked_value, shown, with_unknown_currency
from finray.answering.presence import is_compared
from finray.core.grid import Grid, GridCell
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.plan import Formula, Found, Operand, Unit
from finray.core.predictions import Answer, Status
from finray.core.query import Query, Shape
from finray.core.roles import Answerer, Curation
from finray.filings.tables.canonical import canonical_items, plain_label
from finray.index.reading.facts import FilingFacts
from finray.question.arithmetic import ProgramError, evaluate, names, substituted
from finray.question.grids import GridQuestion, grid_question
from finray.question.measures.formulas import at_period
from finray.question.plans.programs import period_label

_NAME = re.compile(r"\b[A-Z][\w&-]*(?: [A-Z][\w&-]*)*")
_LISTED = 6
"""Empty cells that an answer names one by one."""


class GridAnswerer:
    """Answers what :func:`finray.question.grids.grid_question` reads as a grid, and leaves the rest, and grids without
    any figure, to ``inner``."""

    def __init__(self, inner: Answerer, facts: FilingFacts, confidence: ConfidenceModel | None = None) -> None:
        self._inner = inner
        self._facts = facts
        self._confidence = confidence

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        unknown = dict.fromkeys((*query.unknown_companies, *_unexplained_names(query)))
        own = {each.name.casefold() for each in query.own_names}
        absent = [name for name in unknown if name.casefold() not in own and is_compared(query, name)]
        # A brand or a segment is answered by rows that name it, which a grid of companies does not look for.
        asked = None if query.part_names else grid_question(query, absent, self._newest(query.companies))
        if asked is not None:
            table = GridTable(query, asked, self._facts)
            journal.note(f"grid: {asked.verdict} of {[f.key for f in asked.formulas]}, {table.filled} figures")
            if table.filled:
                answer = table.answer(curation)
                if self._confidence is None or answer.status != "answered":
                    return answer
                found = signals(query, answer, curation.kept, self._facts)
                return replace(answer, confidence=round(self._confidence.probability(found), 3))
        return await self._inner.answer(query, curation, journal)

    def _newest(self, companies: Sequence[str]) -> int | None:
        """The last fiscal year that all of ``companies`` have an annual report on."""
        own = [
            max(
                (f.fiscal_year for f in self._facts.filings_of(key) if f.fiscal_year and f.fiscal_period == "FY"),
                default=None,
            )
            for key in companies
        ]
        years = [year for year in own if year is not None]
        return min(years, default=None)


def _unexplained_names(query: Query) -> list[str]:
    """Capitalized words of the question that nothing explains: companies that the index may lack."""
    runs = _NAME.findall(query.text)
    return [run for run in runs if set(re.findall(r"[^\W\d_][\w&'’-]*", run.lower())) <= set(query.unexplained)]


@dataclass(frozen=True, slots=True)
class _Value:
    """A figure of the grid, as a fraction if in percent; or why there is none."""

    value: float | None = None
    unit: Unit = "USD"
    found: tuple[Found, ...] = ()
    other_row: bool = False
    reason: str = ""


class GridTable:
    """The figures of one grid."""

    def __init__(self, query: Query, asked: GridQuestion, facts: FilingFacts) -> None:
        self._query, self._asked, self._facts = query, asked, facts
        self._search = OperandSearch(query, {}, anywhere=True, plain=len(asked.formulas) == 1)
        self._series: dict[tuple[str, str], tuple[Series, frozenset[Period]]] = {}
        self._names = [*map(facts.company_name, asked.companies), *asked.absent]
        self._values = {
            (name, period, formula.key): self._value(company, period, formula)
            for name, company in zip(self._names, [*asked.companies, *[None] * len(asked.absent)], strict=True)
            for period in asked.periods
            for formula in asked.formulas
        }
        found = [each for value in self._values.values() for each in value.found]
        self._shape = _common_scale(shape_of(query, found), self._values.values())

    @property
    def filled(self) -> int:
        """How many cells have a figure."""
        return sum(value.value is not None for value in self._values.values())

    def answer(self, curation: Curation) -> Answer:
        """The answer with the grid; a refusal if the question asks for a verdict and there is nothing to compare."""
        said = self._verdict()
        cells = tuple(self._cell(name, period, formula) for name, period, formula in self._places())
        grid = Grid(
            tuple(self._names),
            tuple(map(str, self._asked.periods)),
            tuple(formula.names[0] for formula in self._asked.formulas),
            cells,
            said.text,
            said.ranking,
        )
        found = {each.operand.name: each for value in self._values.values() for each in value.found}
        evidence, grounded = evidence_of(found.values() if said.drawn else (), curation.kept, self._facts)
        operands = tuple(cited(name, each) for name, each in found.items())
        text = "\n".join(filter(None, (said.text, *self._lines(), self._missing())))
        status: Status = "answered" if said.drawn else "unanswerable"
        return Answer(
            text,
            status,
            evidence=evidence,
            operands=operands,
            grounded=grounded if said.drawn else None,
            missing=grid.missing or (() if said.drawn else (said.text,)),
            grid=grid,
        )

    # --- Figures ---

    def _value(self, company: str | None, period: Period, formula: Formula) -> _Value:
        if company is None:
            return _Value(reason="the index has no filing of it")
        expression = at_period(formula.expression)
        found: dict[str, Found] = {}
        other_row = False
        for name in names(expression):
            item, _, back = name.rpartition("__")
            at = period.years_before(int(back))
            series, others = self._series_of(company, item, int(back))
            if at not in series:
                filings = self._facts.filings_of(company)
                there = has_filing(self._operand(company, item, at), filings)
                return _Value(reason="no row for it, or several that differ" if there else f"no filing on {at}")
            found[name] = series[at]
            other_row = other_row or at in others
        program = substituted(expression, {name: each.operand.name for name, each in found.items()})
        try:
            value = evaluate(program, {each.operand.name: each.value for each in found.values()})
        except ProgramError as error:
            return _Value(reason=str(error))
        units = {each.unit for each in found.values()}
        unit = units.pop() if len(found) == 1 and formula.unit == "USD" else formula.unit
        return _Value(value, unit, tuple(found.values()), other_row)

    def _operand(self, company: str, item: str, period: Period) -> Operand:
        phrase = self._asked.phrases.get(item)
        wording = phrase.text if phrase is not None else canonical_items()[item].names[0]
        key = re.sub(r"\W", "_", company)
        return Operand(f"{item}_{period_label(period)}_{key}", company, item, period, wording, phrase)

    def _series_of(self, company: str, item: str, back: int) -> tuple[Series, frozenset[Period]]:
        """(figures by period, the periods whose row may be another line) of ``item``, the periods ``back`` years before
        those of the grid."""
        if (company, f"{item}__{back}") in self._series:
            return self._series[company, f"{item}__{back}"]
        filings = self._facts.filings_of(company)
        operands = [self._operand(company, item, period.years_before(back)) for period in self._asked.periods]
        own = {each.filing_id: each for operand in operands for each in filings if has_filing(operand, [each])}
        items = asked_items(self._query, self._facts.line_items(own.keys()))
        hits = {operand.period: self._search.find(operand, [*own.values()], items) for operand in operands}
        series = {period: hit for period, hit in hits.items() if hit is not None}
        made = in_one_line(series, operands, [*own.values()], items)
        self._series[company, f"{item}__{back}"] = made
        return made

    # --- Words ---

    def _verdict(self) -> Said:
        asked = self._asked
        currencies = {each.currency for value in self._values.values() for each in value.found if each.currency}
        if asked.verdict != "list" and len(currencies) > 1:
            return Said(f"No figures in one currency: they are in {', '.join(sorted(currencies))}.", drawn=False)
        if asked.over == "items":
            items = [formula.names[0] for formula in asked.formulas]
            by_item = {
                (formula.names[0], period): self._values[self._names[0], period, formula.key].value
                for formula in asked.formulas
                for period in asked.periods
            }
            unit = self._unit(asked.formulas[0])
            return over_names(asked, self._names[0], by_item, items, lambda value: shown(value, unit, self._shape))
        said = [
            said_of(
                asked,
                formula.names[0],
                {(name, p): self._values[name, p, formula.key].value for name in self._names for p in asked.periods},
                self._names,
                lambda value, formula=formula: shown(value, self._unit(formula), self._shape),  # type: ignore[misc]
            )
            for formula in asked.formulas
        ]
        if len(said) == 1:
            return said[0]
        return Said(" ".join(filter(None, (each.text for each in said))), (), drawn=any(each.drawn for each in said))

    def _unit(self, formula: Formula) -> Unit:
        units = [
            value.unit for (_, _, key), value in self._values.items() if key == formula.key and value.value is not None
        ]
        return Counter(units).most_common(1)[0][0] if units else formula.unit

    def _places(self) -> list[tuple[str, Period, Formula]]:
        return [
            (name, period, formula)
            for name in self._names
            for period in self._asked.periods
            for formula in self._asked.formulas
        ]

    def _cell(self, name: str, period: Period, formula: Formula) -> GridCell:
        value = self._values[name, period, formula.key]
        place = (name, str(period), formula.names[0])
        if value.value is None:
            return GridCell(*place, reason=value.reason)
        shape = replace(self._shape, currency=shape_of(self._query, value.found).currency)
        number, unit = asked_value(value.value, value.unit, shape)
        row = value.found[0].line_item.label if len(value.found) == 1 else ""
        operands = tuple(each.operand.name for each in value.found)
        text = with_unknown_currency(shown(value.value, value.unit, shape), value.unit, shape)
        return GridCell(*place, number, unit, text, operands, row, value.other_row)

    def _lines(self) -> list[str]:
        """A line for each company and item: its figures, and the row that they are read from."""
        lines = []
        for name in self._names:
            for formula in self._asked.formulas:
                cells = [self._cell(name, period, formula) for period in self._asked.periods]
                there = [cell for cell in cells if cell.value is not None]
                if not there:
                    continue
                figures = "; ".join(f"{cell.period} {cell.text}{' †' * cell.other_row}" for cell in there)
                lines.append(f"{name}, {formula.names[0]}: {figures}{_rows_named(there)}")
        return lines

    def _missing(self) -> str:
        """The cells without a figure, by reason."""
        by_reason: dict[str, list[str]] = {}
        for name, period, formula in self._places():
            value = self._values[name, period, formula.key]
            if value.value is None:
                by_reason.setdefault(value.reason, []).append(f"{formula.names[0]} of {name} for {period}")
        return " ".join(f"No figure for {_shortened(cells)}: {why}." for why, cells in by_reason.items())


def _shortened(cells: Sequence[str]) -> str:
    more = f" and {len(cells) - _LISTED} more" if len(cells) > _LISTED else ""
    return f"{', '.join(cells[:_LISTED])}{more}"


def _rows_named(cells: Sequence[GridCell]) -> str:
    """The rows of ``cells``, to follow their figures: the definition that the filings give the line."""
    by_row: dict[str, list[GridCell]] = {}
    for cell in cells:
        if cell.row:
            by_row.setdefault(plain_label(cell.row), []).append(cell)
    if not by_row:
        return ""
    main = max(by_row.values(), key=len)
    rest = [f"{cell.period} “{cell.row}”" for cell in cells if cell.row and cell not in main]
    named = f" (row “{main[0].row}”{', except ' + ', '.join(rest) if rest else ''})"
    return named + ("; † may be another line" if any(cell.other_row for cell in cells) else "")


def _common_scale(shape: Shape, values: Iterable[_Value]) -> Shape:
    """``shape`` with millions for all amounts if it leaves the scale open: the cells of a table share one."""
    sizes = [abs(each.value) for each in values if each.value is not None and each.unit == "USD"]
    return replace(shape, scale="million") if shape.scale is None and max(sizes, default=0.0) >= 1e6 else shape

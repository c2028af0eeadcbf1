"""Evaluates the program of a covered plan, and puts the result into words with its cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from finray.answering.cells.page_cells import is_dash
from finray.answering.grounding import printing, prints
from finray.answering.plans.units import printed_unit, result_unit
from finray.answering.plans.wording import (
    asked_value,
    may_be_relative,
    shown,
    shown_fall,
    shown_move,
    shown_relative,
    with_unknown_currency,
)
from finray.core.filing import Filing, LineItem
from finray.core.passages import Passage
from finray.core.plan import Coverage, Found
from finray.core.predictions import Answer, CitedCell
from finray.core.query import Query, Shape
from finray.filings.tables.canonical import plain_label
from finray.index.reading.facts import FilingFacts
from finray.question.arithmetic import evaluate

_LISTED = 5
"""Companies without a figure that a ranking names."""
_DIFFERENCES = frozenset({"change", "difference"})
_MOVES = _DIFFERENCES | {"growth"}
"""Kinds of plans whose result is a change."""


class Computation:
    """The values of one covered plan, their units, and their wording in the answer."""

    def __init__(self, query: Query, coverage: Coverage, passages: Sequence[Passage], facts: FilingFacts) -> None:
        """Raises ProgramError if a part has no value."""
        plan = coverage.plan
        self._query, self._plan, self._facts = query, plan, facts
        self._passages = passages
        self._found = {operand.name: coverage.found[operand.name] for operand in plan.operands}
        self._values = {name: item.value for name, item in coverage.found.items()}
        self._shape = shape_of(query, coverage.found.values())
        printed = printed_unit(coverage.found.values())
        self._unit = result_unit(query, coverage)
        self._part_unit = printed if printed is not None and plan.part_unit == "USD" else plan.part_unit
        self._parts = [(label, evaluate(program, self._values)) for label, program in plan.parts]

    def answer(self) -> Answer:
        """Raises ProgramError if the program has no value."""
        plan = self._plan
        if plan.kind == "which":
            return self._answer(self._ranking(), plan.program)
        if plan.kind == "value" and self._unit.startswith("USD") and "share" in self._query.intents:
            return Answer.refused(f"both figures of the share that {self._query.worded!r} asks for")
        lead, program = self._winner() if plan.kind == "highest" else ("", plan.program)
        value = evaluate(program, self._values)
        number, unit = asked_value(value, self._unit, self._shape)
        text = with_unknown_currency(self._text(value, lead), self._part_unit, self._shape)
        return replace(self._answer(self._with_dashes(text), program), value=number, unit=unit)

    def _with_dashes(self, text: str) -> str:
        """``text``, or what it says if the filing prints a dash in the place of a figure."""
        dashes = [found for found in self._found.values() if is_dash(found.line_item)]
        if not dashes:
            return text
        if len(self._found) == 1 and self._plan.kind == "value":
            return f"The filing shows no amount ({dashes[0].line_item.text}) for {dashes[0].operand.period}"
        return f"{text} (a dash counts as 0)"

    def _winner(self) -> tuple[str, str]:
        """(beginning of the answer, program for the value) of the company that ranks first."""
        values = [evaluate(ranking, self._values) for _, ranking, _ in self._plan.choose]
        best = values.index(min(values) if self._plan.lowest else max(values))
        company, _, program = self._plan.choose[best]
        return f"{self._facts.company_name(company)}: ", program

    def _text(self, value: float, lead: str) -> str:
        plan, text = self._plan, lead + self._shown(value)
        derived = f" ({'; '.join(plan.derived)})" if plan.derived else ""
        sign = (value > 0) - (value < 0)
        agrees = "Yes" if (sign < 0 if plan.lowest else sign > 0) else "No"
        if plan.kind == "trend":
            (before, old), (after, new) = self._parts[0], self._parts[-1]
            moved = ("did not change", "rose", "fell")[sign]
            if {"rises", "falls"} <= self._query.intents:  # "increase or decrease": neither yes nor no
                agrees = ("Neither", "Increase", "Decrease")[sign]
            return f"{agrees}: {plan.metric} {moved} from {self._part(old)} ({before}) to {self._part(new)} ({after})."
        if plan.kind == "sign":
            word = ("zero", "positive", "negative")[sign]
            return f"{'Yes' if word in self._query.intents else 'No'}: {plan.metric} was {word}, {text}."
        if plan.kind == "versus":
            (one, its), (other, theirs) = self._parts
            compared = ("equals", "is higher than", "is lower than")[sign]
            return (
                f"{agrees}: {plan.metric} of {self._label(one)}, {self._part(its)}, {compared} that of "
                f"{self._label(other)}, {self._part(theirs)} ({plan.operands[0].period})."
            )
        if self._parts:
            compared = f"; {len(self._parts)} companies compared{self._lacking()}" if plan.lacking else ""
            detail = compared if plan.kind == "highest" else f": {self._listed(self._parts)}"
            return f"{text}{self._relative()} ({plan.metric}{self._row()}{detail}){derived}"
        text += f" ({self._query.usual_name}){derived}" if self._query.usual_name else derived
        return text if self._query.periods else f"{text} ({plan.operands[-1].period}, the latest in the index)"

    def _row(self) -> str:
        """The row that one item is read from over several periods, if it is called otherwise: its definition."""
        labels = {plain_label(found.line_item.label): found.line_item.label for found in self._found.values()}
        if len(labels) != 1 or len({(each.operand.company, each.operand.item) for each in self._found.values()}) != 1:
            return ""
        ((plain, label),) = labels.items()
        return "" if len(self._found) == 1 or plain == self._plan.metric.lower() else f", row “{label}”"

    def _shown(self, value: float) -> str:
        points = self._unit == self._part_unit == "percent" and self._plan.kind in _DIFFERENCES
        if self._plan.kind == "difference" and self._plan.lowest:
            return shown_fall(value, self._unit, self._shape, points=points)
        if self._plan.kind in _MOVES:
            return shown_move(value, self._unit, self._shape, self._query.intents, points=points)
        return shown(value, self._unit, self._shape)

    def _relative(self) -> str:
        """The change of an amount in percent too, if the question leaves open which is meant; otherwise ""."""
        if self._plan.kind != "change" or not may_be_relative(self._unit, self._query.shape):
            return ""
        return shown_relative(self._parts[0][1], self._parts[-1][1], self._query.intents)

    def _ranking(self) -> str:
        """The company or year with the highest (or lowest) value, then all values."""
        plan = self._plan
        ranked = sorted(self._parts, key=lambda part: part[1], reverse=not plan.lowest)
        period = f", {plan.operands[0].period}" if self._facts.has_company(ranked[0][0]) else ""
        tie = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
        first = "Neither: they are equal" if tie else self._label(ranked[0][0])
        return f"{first} ({plan.metric}{period}: {self._listed(ranked)}{self._lacking()})"

    def _lacking(self) -> str:
        """The companies that are compared and have no figure, to follow those that have."""
        names = self._plan.lacking
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return f"; no figure for {', '.join(names[:_LISTED])}{more}" if names else ""

    def _listed(self, parts: Iterable[tuple[str, float]]) -> str:
        return "; ".join(f"{self._label(label)} {self._part(value)}" for label, value in parts)

    def _part(self, value: float) -> str:
        return shown(value, self._part_unit, self._shape)

    def _label(self, label: str) -> str:
        return self._facts.company_name(label) if self._facts.has_company(label) else label

    def _answer(self, text: str, program: str) -> Answer:
        evidence, grounded = evidence_of(self._found.values(), self._passages, self._facts)
        cells = tuple(cited(name, item) for name, item in self._found.items())
        source = _shown_program(program, self._found)
        return Answer(text, "answered", program=source, evidence=evidence, operands=cells, grounded=grounded)


def evidence_of(
    found: Iterable[Found], passages: Sequence[Passage], facts: FilingFacts
) -> tuple[tuple[Passage, ...], bool]:
    """(passages, grounded): for each operand a passage that prints its row, else one of its page, without repeats; and
    whether all of them print their operand's figure."""
    chosen: dict[tuple[str, int, int], Passage] = {}
    grounded = True
    for item in found:
        passage = printing(item, passages, facts)
        if passage is not None:
            chosen.setdefault((passage.filing_id, passage.page, passage.start), passage)
        grounded = grounded and passage is not None and prints(passage.text, item.line_item.text)
    return tuple(chosen.values()), grounded


def shape_of(query: Query, found: Iterable[Found]) -> Shape:
    """The shape that the question asks for, in the operands' currency."""
    currencies = [item.currency for item in found if item.unit.startswith("USD")]
    return replace(query.shape, currency=max(currencies, default="USD"))


def cited_cell(name: str, value: float, item: LineItem, filing: Filing, fit: float = 1.0) -> CitedCell:
    """``item`` of ``filing`` as a cell that an answer cites under ``name``."""
    return CitedCell(
        name=name,
        value=value,
        doc_name=filing.doc_name,
        filing_id=filing.filing_id,
        page=item.page,
        label=item.label,
        text=item.text,
        section=item.section,
        column_label=item.column_label,
        statement=item.statement,
        period_end=item.period_end,
        months=item.months,
        concept=item.concept,
        registrant=item.registrant,
        box=item.box,
        ocr=item.ocr,
        fit=fit,
    )


def cited(name: str, found: Found) -> CitedCell:
    return cited_cell(name, found.value, found.line_item, found.filing, min(1.0, found.score))


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"


def _shown_program(program: str, found: Mapping[str, Found]) -> str:
    """The program, then its operands, each with its cell, page and any XBRL tag."""
    operands = "; ".join(f"{name} = {_plain(item.value)} {_source(item)}" for name, item in found.items())
    return f"{program}  where {operands}"


def _source(found: Found) -> str:
    item = found.line_item
    tag = f", tagged {item.concept}" if item.concept else ""
    return f"[“{item.text}”, {found.filing.doc_name} p. {item.page + 1}{tag}]"

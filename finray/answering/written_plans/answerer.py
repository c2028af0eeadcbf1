"""Answers with the plan that a small model writes over the rows of the retrieved pages (docs/plans.md).

1. The rows and sentences that the question may mean become a sheet, without a figure.
2. The model writes plans; the first that names cells of the sheet is taken.
3. Finray's arithmetic computes it over the cells, and the answer cites each of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from finray.answering.cells.page_cells import PageCell, PageCells
from finray.answering.plans.computed import Computation, shape_of
from finray.answering.plans.coverage import fitting_period
from finray.answering.plans.units import answers_unit
from finray.answering.plans.wording import may_be_relative, shown_relative
from finray.answering.sentences.model import shipped_sentence_model
from finray.answering.sentences.read import SentenceFinder
from finray.answering.table_reader.amounts import (
    added_with_signs,
    amount_of,
    operand_of,
    phrase_of_row,
    quantity_words,
    signed_amount,
    unit_of_cell,
)
from finray.answering.table_reader.columns import NAMED, columns_of
from finray.answering.table_reader.looked_up import sought
from finray.answering.table_reader.operand_text import operand_text
from finray.answering.table_reader.operations import Operation
from finray.answering.table_reader.series import series_of
from finray.answering.table_reader.shortlist import rows_of, shortlist
from finray.answering.table_reader.table_answerer import asked_cells
from finray.answering.written_plans.language import (
    MIXING,
    NAMING,
    OPERATIONS,
    Call,
    CellId,
    Expression,
    PlanError,
    cells_of,
    parse,
    program_of,
    unit_of,
)
from finray.answering.written_plans.sheet import Sheet, StatedFigures, sheet, shown_figures
from finray.core.errors import ModelUnavailableError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.plan import Coverage, Found, Plan, Unit
from finray.core.predictions import Answer, TokenUsage
from finray.core.query import Query
from finray.core.roles import Curation
from finray.filings.pages.sentences import page_sentences
from finray.filings.prose.scales import unspoken_scale
from finray.index.reading.facts import FilingFacts
from finray.models.plan_writer import PlanWriter, WrittenPlan
from finray.question.arithmetic import ProgramError

ROWS: Final = 12
SENTENCES: Final = 2
"""Rows and sentences of a sheet: some 350 tokens."""
_LABEL: Final = 90
_LONGEST: Final = 700
"""Characters of a sentence; a longer one is a list that was not split."""


class PlanAnswerer:
    """Asks ``writer``; a plan less likely than ``least`` is no answer."""

    def __init__(self, facts: FilingFacts, sentences: SentenceFinder, writer: PlanWriter, least: float = 0.0) -> None:
        self._facts, self._sentences, self._writer, self._least = facts, sentences, writer, least
        self._cells = PageCells(facts)

    def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer | None:
        """None if no plan gives a figure that is likely enough."""
        if len(query.companies) > 1 or {"cause", "words"} & query.intents:
            return None
        passages = fitting_period(query, curation.kept, self._facts)
        shown = self.sheet(query, passages)
        if not shown.rows:
            return None
        try:
            plans = self._writer.write(shown.text, shown.grammar)
        except ModelUnavailableError as error:  # the rules' answer stands
            journal.unusable_reply("plan", str(error))
            return None
        journal.spend("plan", sum((written.usage for written in plans), TokenUsage()))
        for written in plans:
            answer = self._of_plan(written, shown, query, passages, journal)
            if answer is not None:
                return answer
        return None

    def sheet(self, query: Query, passages: Sequence[Passage]) -> Sheet:
        """What the model is shown of the pages of ``passages``."""
        looked_for = sought(query, passages, self._facts)
        pages = [(each.filing.filing_id, each.line_item.page) for each in looked_for.found]
        query, cells = asked_cells(query, self._cells.read(passages, pages), self._facts)
        rows = rows_of(query, cells, self._facts)
        series = shortlist(rows, ROWS, looked_for.found).series if rows.series else ()
        return sheet(query, series, self._stated(query, passages))

    def _stated(self, query: Query, passages: Sequence[Passage]) -> list[StatedFigures]:
        """The likeliest sentences with figures."""
        found = self._sentences.find(query, passages)
        if not found.sentences:
            return []
        stated: list[StatedFigures] = []
        for number in np.argsort(-shipped_sentence_model().scores(found.features), kind="stable").tolist():
            sentence, page = found.sentences[number], found.pages[found.numbers[number]]
            figures = shown_figures(sentence)
            if not figures or len(sentence.text) > _LONGEST:
                continue
            scale = unspoken_scale(page.text, (each.text for each in page_sentences(page.text, page.headings)))
            filing = self._facts.filing(page.filing_id)
            stated.append(StatedFigures(filing, page.page, found.numbers[number], sentence, figures, scale))
            if len(stated) == SENTENCES:
                break
        return stated

    def _of_plan(
        self, written: WrittenPlan, shown: Sheet, query: Query, passages: Sequence[Passage], journal: Journal
    ) -> Answer | None:
        probability = round(math.exp(written.log_probability), 3)
        journal.note(f"answer: the model plans {written.text!r} with {probability:.2f}")
        try:
            expression = parse(written.text)
            if expression is None or probability < self._least:
                return None
            answer = computed(expression, shown, query, passages, self._facts)
        except (PlanError, ProgramError) as error:
            journal.note(f"answer: no figure from the plan: {error}")
            return None
        return None if answer is None else replace(answer, confidence=probability)


def computed(
    expression: Expression, shown: Sheet, query: Query, passages: Sequence[Passage], facts: FilingFacts
) -> Answer | None:
    """The answer that ``expression`` over ``shown`` computes; None if its unit is not what ``query`` asks for. Raises
    PlanError for a cell that is not there, or if none is of a period asked for, ProgramError for a division by zero."""
    ids = cells_of(expression)
    cells = [shown.cell(each) for each in ids]
    if not cells:
        raise PlanError(f"{expression} names no cell")
    currencies = {cell.item.unit.removesuffix("/share") for cell in cells if _is_money(cell)}
    if len(currencies) > 1:
        raise PlanError(f"{expression} mixes {', '.join(sorted(currencies))}")
    units = {cell.item.unit for cell in cells}
    if len(units) > 1 and not (isinstance(expression, Call) and expression.operation in MIXING):
        raise PlanError(f"{expression} compares {' with '.join(sorted(units))}")
    dated = [cell for cell in cells if cell.item.period_end is not None]
    if query.asked and dated and columns_of(query, dated, facts).fits.max() < NAMED:
        raise PlanError(f"no cell of {expression} is of a period that the question names")
    operation = expression.operation if isinstance(expression, Call) else "value"
    coverage, amounts = _coverage(expression, operation, ids, cells, query, facts)
    if not answers_unit(query, coverage):
        return None
    answer = Computation(query, coverage, passages, facts).answer()
    if answer.status != "answered":
        return None
    if operation in NAMING or operation == "more":
        return answer
    described = operand_text(cells, amounts, shape_of(query, coverage.found.values()))
    return replace(answer, text=f"{answer.text}{_relative(operation, cells, amounts, query)} ({described})")


def _coverage(
    expression: Expression,
    operation: str,
    ids: Sequence[CellId],
    cells: Sequence[PageCell],
    query: Query,
    facts: FilingFacts,
) -> tuple[Coverage, Sequence[float]]:
    """``expression`` as a plan whose operands are found, and their amounts in base units."""
    items = [cell.item for cell in cells]
    words = quantity_words(query) if len({cell.row for cell in cells}) == 1 else ""
    adds: Operation = "sum" if operation in ("sum", "average") else "difference"
    amounts = added_with_signs(adds, [amount_of(each, words) for each in items], [*map(signed_amount, items)])
    found: dict[str, Found] = {}
    names: dict[CellId, str] = {}
    for number, cell, amount in zip(ids, cells, amounts, strict=True):
        names[number] = _unused(phrase_of_row(cell.item).name, found)
        found[names[number]] = operand_of(cell, names[number], amount, facts)
    units: Mapping[CellId, Unit] = {number: unit_of_cell(cell.item) for number, cell in zip(ids, cells, strict=True)}
    unit = unit_of(expression, units)
    parts: tuple[tuple[str, str], ...] = ()
    if isinstance(expression, Call) and (operation in NAMING or operation == "more"):
        programs = [program_of(argument, names) for argument in expression.arguments]
        parts = tuple(zip(_labels(expression, shown_cells=dict(zip(ids, cells, strict=True))), programs, strict=True))
    backwards = operation == "difference" and _is_backwards(cells)
    plan = Plan(
        OPERATIONS[operation].kind if operation in OPERATIONS else "value",
        program_of(expression, names),
        unit,
        _metric(cells),
        tuple(each.operand for each in found.values()),
        parts,
        part_unit=unit,
        lowest=operation == "which_min" or backwards or (operation == "more" and "falls" in query.intents),
        spelled=True,
    )
    return Coverage(plan, found, ()), amounts


def _labels(expression: Call, shown_cells: Mapping[CellId, PageCell]) -> list[str]:
    """What distinguishes the arguments: rows, else columns, else periods, else their numbers."""
    first = [shown_cells[cells_of(argument)[0]] for argument in expression.arguments if cells_of(argument)]
    rows = [cell.item.label for cell in first]
    columns = [cell.item.column_label or "" for cell in first]
    dates = [str(cell.item.period_end or "") for cell in first]
    for labels in (rows, columns, dates, [f"{row}, {date}" for row, date in zip(rows, dates, strict=True)]):
        if len(set(labels)) == len(expression.arguments) and all(labels):
            return labels
    return [f"{number}" for number in range(1, len(expression.arguments) + 1)]


def _is_money(cell: PageCell) -> bool:
    return unit_of_cell(cell.item) in ("USD", "USD/share") and cell.item.unit != "pure"


def _is_backwards(cells: Sequence[PageCell]) -> bool:
    """Whether two cells are of one row, the first of an earlier period."""
    if len(cells) != 2 or len(series_of(cells)) > 1:
        return False
    first, second = (cell.item.period_end for cell in cells)
    return first is not None and second is not None and first < second


def _relative(operation: str, cells: Sequence[PageCell], amounts: Sequence[float], query: Query) -> str:
    """The difference of one row between two periods in percent too, if that may be meant."""
    if operation != "difference" or len(cells) != 2 or len(series_of(cells)) > 1:
        return ""
    if not may_be_relative(unit_of_cell(cells[0].item), query.shape) or None in {c.item.period_end for c in cells}:
        return ""
    backwards = _is_backwards(cells)
    later, earlier = reversed(amounts) if backwards else amounts
    return shown_relative(earlier, later, {"falls"} if backwards else query.intents)


def _metric(cells: Sequence[PageCell]) -> str:
    """What the cells share: the row of several periods, else their section or column."""
    first = cells[0].item
    one_row = len({cell.item.label for cell in cells}) == 1
    return (first.label if one_row else first.section or first.column_label or first.label)[:_LABEL]


def _unused(name: str, taken: Mapping[str, Found]) -> str:
    if name not in taken:
        return name
    return next(numbered for number in itertools.count(2) if (numbered := f"{name}_{number}") not in taken)

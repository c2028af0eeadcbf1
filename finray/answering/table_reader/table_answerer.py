"""Reads the tables of the retrieved pages: which rows, columns and operation a question most likely means.

The figure is the answer if no plan gives one and the choice is sure enough; else a second opinion on the plan's figure.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from finray.answering.asked_items import asked_items
from finray.answering.cells.page_cells import PageCell, PageCells
from finray.answering.cells.valuation_accounts import asks_for_valuation, is_valuation_account
from finray.answering.part_names import item_of_part, names_measure
from finray.answering.plans.computed import Computation, shape_of
from finray.answering.plans.coverage import fitting_period
from finray.answering.plans.units import answers_unit
from finray.answering.plans.wording import may_be_relative, shown_relative
from finray.answering.table_reader.amounts import (
    added_with_signs,
    amount_of,
    operand_of,
    phrase_of_row,
    quantity_words,
    signed_amount,
    unit_of_cell,
)
from finray.answering.table_reader.columns import columns_of
from finray.answering.table_reader.initials import in_printed_words
from finray.answering.table_reader.looked_up import matches, names_all, sought
from finray.answering.table_reader.operand_text import operand_text
from finray.answering.table_reader.operations import ARITHMETIC, NAMING, Reading
from finray.answering.table_reader.reading_choice import (
    Choice,
    ReadingModel,
    question_signals,
    shipped_reading_model,
)
from finray.answering.table_reader.reading_features import unit_of
from finray.answering.table_reader.readings import Readings, readings_of
from finray.answering.table_reader.second_opinion import SecondOpinion, second_opinion
from finray.answering.table_reader.series import series_of
from finray.answering.table_reader.shortlist import rows_of, shortlist
from finray.core.arrays import Floats
from finray.core.filing import LineItem
from finray.core.journal import Journal
from finray.core.plan import Coverage, Found, Plan
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.question_fields import excerpt
from finray.core.roles import Curation
from finray.index.reading.facts import FilingFacts
from finray.models.row_reader import RowReader, row_reader
from finray.question.arithmetic import ProgramError
from finray.question.synonyms import words_of

ROWS = 12
"""Rows that the model reads, in addition to those that a look-up found. With 24 it is as often sure of a right figure,
at twice the time."""
_LABEL = 90
_TITLE = 80
"""Characters of the title of a table; a longer caption is a sentence above it."""


@dataclass(frozen=True, slots=True)
class Competing:
    """The readings ``found`` for a question, its ``question_signals`` (``asked``), and the ``words`` that name its
    figures, as the tables print them."""

    found: Readings
    asked: Floats
    words: str


@dataclass(frozen=True, slots=True)
class TableReading:
    """The readings ``found`` for a question, and the likeliest of them; ``words`` name the figures asked for."""

    found: Readings
    choice: Choice
    words: str

    def opinion(self, value: float, query: Query) -> SecondOpinion:
        """The opinion on ``value``, in the unit in which an answer to ``query`` states it."""
        return second_opinion(value, query, self.found, self.choice)


class TableAnswerer:
    """Chooses by ``model`` among the rows that ``reader`` scores, by default those that come with finray."""

    def __init__(self, facts: FilingFacts, reader: RowReader | None = None, model: ReadingModel | None = None) -> None:
        self._facts = facts
        self._cells = PageCells(facts)
        self._reader = reader
        self._model = model

    def read(self, query: Query, curation: Curation, journal: Journal) -> TableReading | None:
        """None without any reading."""
        competing = self.competing(query, curation)
        if competing is None:
            return None
        choice = self._chooser.choose(competing.found, competing.asked)
        if choice is None:
            return None
        cells = competing.found.cells_of(choice.reading)
        named = "; ".join(f"{cell.item.label!r} {cell.item.text!r}" for cell in cells)
        journal.note(
            f"answer: of {len(competing.found.readings)} readings {choice.reading.operation} of {named} "
            f"with {choice.probability:.2f}"
        )
        return TableReading(competing.found, choice, competing.words)

    @property
    def _chooser(self) -> ReadingModel:
        return self._model or shipped_reading_model()

    def answer(self, reading: TableReading, query: Query, curation: Curation) -> Answer | None:
        """The figure of the likeliest reading with its cells; None if it is not sure enough."""
        choice = reading.choice
        if choice.probability < self._chooser.threshold:
            return None
        cells = reading.found.cells_of(choice.reading)
        if not all(_names_measure(query, cell.item) for cell in cells):
            return None
        if len({cell.row for cell in cells}) == 1 and not names_all(query, cells[0], self._facts):
            return None
        answer = _computed(choice.reading, cells, query, curation, self._facts, reading.words)
        return None if answer is None else replace(answer, confidence=round(choice.probability, 3))

    def competing(self, query: Query, curation: Curation) -> Competing | None:
        """None if no page has a table, or the question compares companies: a reading is of one."""
        if len(query.companies) > 1:
            return None
        passages = fitting_period(query, curation.kept, self._facts)
        looked_for = sought(query, passages, self._facts)
        pages = [(each.filing.filing_id, each.line_item.page) for each in looked_for.found]
        query, cells = asked_cells(query, self._cells.read(passages, pages), self._facts)
        every = rows_of(query, cells, self._facts)
        if not every.series:
            return None
        rows = shortlist(every, ROWS, looked_for.found)
        scores = (self._reader or row_reader()).rows(query.question, [series.text for series in rows.series])
        columns = columns_of(query, rows.cells, self._facts)
        found = readings_of(query, rows, scores, columns, matches(looked_for, rows.cells, self._facts))
        return Competing(found, question_signals(query, scores, every.unprinted, looked_for), quantity_words(query))


def asked_cells(query: Query, cells: Sequence[PageCell], facts: FilingFacts) -> tuple[Query, list[PageCell]]:
    """Those of ``cells`` that ``query`` may be about, and ``query`` in their words."""
    of_valuation = asks_for_valuation(words_of(query.text))
    every = facts.line_items({cell.filing.filing_id for cell in cells})
    asked, known = _places(asked_items(query, every)), _places(every)
    found = [
        cell
        for cell in cells
        if (
            (place := (cell.filing.filing_id, cell.item.page, cell.item.row, cell.item.column)) in asked
            or place not in known  # a sentence
        )
        and item_of_part(query, cell.item)
        and (of_valuation or not is_valuation_account(cell.item))
    ]
    return in_printed_words(query, (cell.item for cell in found)), found


def _places(items: Mapping[str, Sequence[LineItem]]) -> set[tuple[str, int, int, int]]:
    return {(filing_id, item.page, item.row, item.column) for filing_id, own in items.items() for item in own}


def _names_measure(query: Query, item: LineItem) -> bool:
    """Whether what stands around ``item`` names what ``query`` asks of a part of a company."""
    title = item.caption if item.caption is not None and len(item.caption) <= _TITLE else None
    return names_measure(query, item.label, item.section, item.column_label, title)


def _computed(
    reading: Reading, cells: list[PageCell], query: Query, curation: Curation, facts: FilingFacts, words: str
) -> Answer | None:
    """The computed answer, of figures that ``words`` name; None if it has no value, or another unit than the question
    asks for."""
    coverage = _coverage(reading, cells, facts, words)
    if not answers_unit(query, coverage):
        return None
    try:
        answer = Computation(query, coverage, curation.kept, facts).answer()
    except ProgramError:
        return None
    if answer.status != "answered":
        return None
    if reading.operation in NAMING:
        return answer
    amounts = [found.value for found in coverage.found.values()]
    relative = _relative(reading, cells, amounts, query)
    described = operand_text(cells, amounts, shape_of(query, coverage.found.values()))
    return replace(answer, text=f"{answer.text}{relative} ({described})")


def _relative(reading: Reading, cells: Sequence[PageCell], amounts: Sequence[float], query: Query) -> str:
    """The difference of one row between two periods in percent too, if that may be meant."""
    if reading.operation != "difference" or len(series_of(cells)) > 1:
        return ""
    ends = {cell.item.period_end for cell in cells}
    if not may_be_relative(unit_of_cell(cells[0].item), query.shape) or None in ends or len(ends) < 2:
        return ""
    later, earlier = reversed(amounts) if _is_backwards(cells) else amounts
    return shown_relative(earlier, later, {"falls"} if _is_backwards(cells) else query.intents)


def _coverage(reading: Reading, cells: list[PageCell], facts: FilingFacts, words: str) -> Coverage:
    """``reading`` as a plan whose operands are found. ``words`` of the question name its figures."""
    items = [cell.item for cell in cells]
    words_of_row = words if len(series_of(cells)) == 1 else ""
    amounts = added_with_signs(
        reading.operation, [amount_of(item, words_of_row) for item in items], [signed_amount(item) for item in items]
    )
    found: dict[str, Found] = {}
    for cell, amount in zip(cells, amounts, strict=True):
        name = _unused(phrase_of_row(cell.item).name, found)
        found[name] = operand_of(cell, name, amount, facts)
    names = list(found)
    arithmetic = ARITHMETIC[reading.operation]
    unit = unit_of(reading.operation, cells)
    naming = reading.operation in NAMING
    parts = tuple(zip(_labels(cells), names, strict=True)) if naming else ()
    plan = Plan(
        arithmetic.kind,
        arithmetic.write(names),
        unit,
        _metric(cells),
        tuple(each.operand for each in found.values()),
        parts,
        part_unit=unit,
        lowest=reading.operation == "which_min" or (reading.operation == "difference" and _is_backwards(cells)),
        spelled=True,
    )
    return Coverage(plan, found, ())


def _is_backwards(cells: Sequence[PageCell]) -> bool:
    """Whether the cells are of one row and the first is of an earlier period than the second."""
    first, second = (cell.item.period_end for cell in cells)
    return first is not None and second is not None and first < second and len(series_of(cells)) == 1


def _unused(name: str, taken: dict[str, Found]) -> str:
    if name not in taken:
        return name
    return next(numbered for number in itertools.count(2) if (numbered := f"{name}_{number}") not in taken)


def _labels(cells: list[PageCell]) -> list[str]:
    """What distinguishes ``cells``: their rows, else their columns, else their periods; numbered if nothing does."""
    rows = [cell.item.label for cell in cells]
    columns = [cell.item.column_label or "" for cell in cells]
    dates = [str(cell.item.period_end or "") for cell in cells]
    for labels in (rows, columns, dates, [f"{row}, {date}" for row, date in zip(rows, dates, strict=True)]):
        if len(set(labels)) == len(cells) and all(labels):
            return labels
    return [f"{row} ({number})" for number, row in enumerate(rows, start=1)]


def _metric(cells: list[PageCell]) -> str:
    """What the cells share: the row of several periods, else their section or column."""
    rows = {cell.item.label for cell in cells}
    first = cells[0].item
    return excerpt(first.label if len(rows) == 1 else first.section or first.column_label or first.label, _LABEL)

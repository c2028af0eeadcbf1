"""What a filing prints in place of a figure: the row of an operand is there, and its cell for the period is blank,
"n/a" or declared nil. Such a cell is no figure, and a figure from elsewhere would be another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from finray.core.filing import LineItem
from finray.core.plan import Found, Operand
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.tables import Cell, Row, Table
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS
from finray.index.reading.facts import FilingFacts

_YEARS = (1, -1, 2)
"""Years before the one that is asked for in which the row may have a figure."""
Find = Callable[[Operand], Found | None]


@dataclass(frozen=True, slots=True)
class InPlace:
    """``row`` prints ``text`` for the period of ``operand``, "" if the cell is blank. ``beside`` is the row's figure
    for another year."""

    operand: Operand
    beside: Found
    row: Row
    text: str

    @property
    def label(self) -> str:
        return self.row.label

    def refusal(self, query: Query, company: str, facts: FilingFacts) -> Answer:
        item, filing = self.beside.line_item, self.beside.filing
        printed = f"prints {self.text!r} in place of a figure" if self.text else "leaves the cell blank"
        place = f"{filing.doc_name}, p. {item.page + 1}"
        text = f"No figure: the filing {printed} for {self.row.label!r}, {self.operand.period} ({place})."
        evidence = tuple(p for p in facts.passages_of(filing.filing_id, item.page) if self.row.label in p.text)[:1]
        missing = (self.operand.described(company),)
        return Answer(text, "unanswerable", missing=missing, evidence=evidence, settled=True)


def in_place_of(operand: Operand, find: Find, facts: FilingFacts) -> InPlace | None:
    """What stands in the row that prints ``operand`` for another year, as ``find`` finds it; None if there is no such
    row, or its table has no column of the operand's period, or there is a figure."""
    for years in _YEARS:
        beside = find(replace(operand, period=operand.period.years_before(years)))
        if beside is None or beside.line_item.period_end is None:
            continue
        item = beside.line_item
        for table in facts.tables([(beside.filing.filing_id, item.page)])[beside.filing.filing_id, item.page]:
            row = next((row for row in table.rows if (row.page, row.row) == (item.page, item.row)), None)
            columns = set(_columns(table, item, years)) if row is not None else ()
            if row is None or len(columns) != 1:
                continue
            cell = next((cell for cell in row.cells if cell.column in columns), None)
            if cell is None or cell.value is None:
                text = "" if cell is None else "nil" if cell.stands == "nil" else cell.text
                return InPlace(operand, beside, row, text)
    return None


def _columns(table: Table, item: LineItem, years: int) -> Iterator[int]:
    """The columns of ``table`` that hold the figures of ``item``'s kind for ``years`` later."""
    own = next((column.label for column in table.columns if column.column == item.column), None)
    labels = {column.column: column.label for column in table.columns}
    for row in table.rows:
        for cell in row.cells:
            if labels.get(cell.column) == own and _is_later(cell, item, years):
                yield cell.column


def _is_later(cell: Cell, item: LineItem, years: int) -> bool:
    if cell.period_end is None or item.period_end is None or cell.months != item.months:
        return False
    return abs((cell.period_end - item.period_end).days - 365.25 * years) <= DATE_TOLERANCE_DAYS

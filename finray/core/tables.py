"""A printed table as data: parsed once, stored whole, printed as stored.

A filing's line items (``LineItem``) are the figures of its tables by key; :func:`line_items` derives them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from finray.core.filing import LineItem, Statement
from finray.core.ocr_marks import OcrMark
from finray.core.records import Record

Standing = Literal["dash", "nil", "n/a", "words"]
"""What stands in place of a figure; a blank cell is not stored."""
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Cell(Record):
    """One cell of a row.

    ``value`` is in base units and signed, 0 for a dash, None if no figure is printed; ``tagged`` is that of the cell's
    inline XBRL tag, with its own sign. ``text`` is the cell as printed,
    ``part`` the part of the company that an inline XBRL tag names. ``months`` is 0 for an instant.
    """

    column: int
    text: str
    stands: Standing | None = None
    value: float | None = None
    unit: str | None = None
    scale: int | None = None
    period_end: dt.date | None = None
    months: int | None = None
    box: Box | None = None
    concept: str | None = None
    part: str | None = None
    tagged: float | None = None
    ocr: OcrMark | None = None
    """What is known of the reading if OCR read the cell."""


@dataclass(frozen=True, slots=True)
class Row(Record):
    """A row as printed. One without cells is a heading inside the table; ``section`` is the heading that governs a row,
    ``depth`` how many do. ``row`` counts the rows of the page, ``start`` and ``end`` are its place in the page's text,
    both 0 if it is unknown."""

    page: int
    row: int
    label: str
    cells: tuple[Cell, ...] = ()
    section: str | None = None
    depth: int = 0
    start: int = 0
    end: int = 0

    @property
    def is_heading(self) -> bool:
        return not self.cells


@dataclass(frozen=True, slots=True)
class Column(Record):
    """A column with figures. ``heads`` are printed over it, the outermost first; ``label`` is what they name besides a
    period (a segment, "Level 1")."""

    column: int
    heads: tuple[str, ...] = ()
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Table(Record):
    """One table, from ``page`` to ``last_page``, the ``number``-th of ``page``.

    ``title`` are the lines over its columns, ``caption`` the last lines of text above it. ``scale`` multiplies its
    amounts, which are in ``currency`` ("XXX" if the filing does not say). ``registrant`` is the company whose table it
    is in a combined report, None for the filer's own.
    """

    page: int
    last_page: int
    number: int
    title: str
    caption: str
    statement: Statement | None
    registrant: str | None
    currency: str
    scale: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def key(self) -> tuple[int, int]:
        """(page, number): unique in a filing."""
        return self.page, self.number


def line_items(table: Table, *, unlabeled: bool = False) -> Iterator[LineItem]:
    """The figures of ``table``, dashes included, in reading order; those of rows without a label only if ``unlabeled``
    ones are wanted: nobody can look them up."""
    labels = {column.column: column.label for column in table.columns}
    caption = (table.caption or None) if table.statement is None else None
    for row in table.rows:
        for cell in row.cells if row.label or unlabeled else ():
            if cell.value is None or cell.unit is None or cell.scale is None:
                continue
            label = labels.get(cell.column)
            if cell.part is not None:
                label = f"{label} [{cell.part}]" if label else f"[{cell.part}]"
            yield LineItem(
                page=row.page,
                statement=table.statement,
                label=row.label,
                value=cell.value,
                text=cell.text,
                unit=cell.unit,
                scale=cell.scale,
                period_end=cell.period_end,
                months=cell.months,
                section=row.section,
                row=row.row,
                column=cell.column,
                box=cell.box,
                concept=cell.concept,
                tagged=cell.tagged,
                ocr=cell.ocr,
                column_label=label,
                caption=caption,
                registrant=table.registrant,
            )

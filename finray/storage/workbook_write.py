"""Writes workbooks (.xlsx) row by row, so that a hundred thousand rows need little memory.

Text is stored as text, whatever it begins with, and is marked so that it stays text if somebody edits the cell. Nothing
here writes a formula.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from copy import copy
from typing import Any

from finray.core.extras import extra
from finray.storage.sheets import Cell, CellValue, Column, Styled, begins_formula, cell_text

MAX_ROWS = 1_048_576
MAX_LINKS = 65_530
"""Links in one sheet. Excel calls a sheet with more damaged; the rest are written as text."""
_MAX_LINK_CHARACTERS = 2_079
_MAX_NAME = 31


class WorkbookWriter:
    """A workbook in the making. Raises MissingExtraError without openpyxl."""

    def __init__(self) -> None:
        with extra("sheets", "writing .xlsx"):
            from openpyxl import Workbook
        self._book = Workbook(write_only=True)
        self._sheets: list[WorkbookSheet] = []

    def sheet(self, name: str, columns: Sequence[Column], *, first: bool = False, frozen: int = 0) -> WorkbookSheet:
        """Add a sheet at the end, or as the ``first``. Its head row has filters and stays in view, as do the ``frozen``
        columns on the left."""
        sheet = WorkbookSheet(self._book, name, columns, first=first, frozen=frozen)
        self._sheets.append(sheet)
        return sheet

    def content(self) -> bytes:
        """The finished file."""
        for sheet in self._sheets:
            sheet.close()
        written = io.BytesIO()
        self._book.save(written)
        return written.getvalue()


class WorkbookSheet:
    """A sheet; rows beyond Excel's limit go to a second sheet of the same name with a number."""

    def __init__(self, book: Any, name: str, columns: Sequence[Column], *, first: bool, frozen: int) -> None:
        self._book = book
        self._name = name
        self._styles: dict[tuple[str | None, bool, bool], Any] = {}
        self._columns = columns
        self._index = 0 if first else None
        self._frozen = frozen
        self._parts = 0
        self._begin()

    def append(self, row: Sequence[Cell]) -> None:
        if self._rows == MAX_ROWS:
            self.close()
            self._begin()
        self._sheet.append([self._cell(cell) for cell in row])
        self._rows += 1

    def close(self) -> None:
        from openpyxl.utils import get_column_letter

        if self._columns:
            self._sheet.auto_filter.ref = f"A1:{get_column_letter(len(self._columns))}{self._rows}"

    def _begin(self) -> None:
        from openpyxl.styles import Font, PatternFill
        from openpyxl.utils import get_column_letter

        self._parts += 1
        end = f" {self._parts}" if self._parts > 1 else ""
        self._sheet = self._book.create_sheet(self._name[: _MAX_NAME - len(end)] + end, self._index)
        self._sheet.freeze_panes = f"{get_column_letter(self._frozen + 1)}2"
        for number, column in enumerate(self._columns, start=1):
            self._sheet.column_dimensions[get_column_letter(number)].width = column.width
        head = [self._cell(Styled(column.name)) for column in self._columns]
        for cell in head:
            cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="FFE8EAF0")
        self._sheet.append(head)
        self._rows, self._links = 1, 0

    def _cell(self, cell: Cell) -> Any:
        from openpyxl.cell import WriteOnlyCell

        if not isinstance(cell, Styled):
            if not (isinstance(cell, str) and _needs_care(cell)):
                return _writable(cell)  # ten times as fast as a cell of its own
            cell = Styled(cell)
        value, link = cell.value, cell.link
        made = WriteOnlyCell(self._sheet, _writable(value))
        if isinstance(value, str) and made.value is not None:
            made.data_type = "s"  # openpyxl takes "=…" for a formula and "#N/A" for an error
        linked = False
        if link and len(link) <= _MAX_LINK_CHARACTERS and self._links < MAX_LINKS:
            made.hyperlink = cell_text(link)
            self._links += 1
            linked = True
        self._style(made, cell.number_format, linked, isinstance(value, str) and begins_formula(value))
        return made

    def _style(self, made: Any, number_format: str | None, linked: bool, quoted: bool) -> None:
        """Set a style, made once for each kind of cell: making one takes longer than writing the cell."""
        from openpyxl.styles import Font

        kind = (number_format, linked, quoted)
        if kind not in self._styles:
            if number_format:
                made.number_format = number_format
            if linked:
                made.font = Font(color="FF0B57D0", underline="single")
            if quoted:
                made.quotePrefix = True
            self._styles[kind] = made._style
        made._style = copy(self._styles[kind])


def _needs_care(text: str) -> bool:
    """Whether openpyxl or a spreadsheet may take ``text`` for something else."""
    return text.startswith(("=", "#")) or begins_formula(text)


def _writable(value: CellValue) -> Any:
    if isinstance(value, str):
        return cell_text(value) or None
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if getattr(value, "tzinfo", None) is not None:  # Excel has no time zones
        return str(value)
    return value

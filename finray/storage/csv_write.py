"""Writes CSV that Excel opens: UTF-8 with a byte order mark, CRLF, all text in quotation marks.

CSV has no types, so a spreadsheet takes text that begins with = + - @ for a formula; an apostrophe before it prevents
that (OWASP, "CSV Injection"). Quotation marks keep a spreadsheet with another separator from splitting a cell.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Sequence

from finray.storage.sheets import Cell, CellValue, Column, begins_formula, value_of


class CsvWriter:
    """A CSV file in the making: one table."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._text = io.StringIO(newline="")
        self._writer = csv.writer(self._text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
        self.append([column.name for column in columns])

    def append(self, row: Sequence[Cell]) -> None:
        self._writer.writerow([_writable(value_of(cell)) for cell in row])

    def content(self) -> bytes:
        return self._text.getvalue().encode("utf-8-sig", errors="replace")


def _writable(value: CellValue) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    if isinstance(value, int):
        return value
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    text = str(value)
    return f"'{text}" if begins_formula(text) else text

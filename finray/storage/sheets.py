"""Tables for spreadsheets, in any file format: cells, columns, and the rule that keeps text from being a formula."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

CellValue: TypeAlias = str | int | float | bool | dt.datetime | dt.date | dt.time | dt.timedelta | None

MAX_CELL_CHARACTERS = 32_767
"""The most that Excel allows in one cell."""
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_BEGINS_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]|\s+[=+\-@＝＋－＠]")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?%?")


@dataclass(frozen=True, slots=True)
class Styled:
    """A value with Excel's number format and a link, if any."""

    value: CellValue
    number_format: str | None = None
    link: str | None = None


Cell: TypeAlias = CellValue | Styled


@dataclass(frozen=True, slots=True)
class Column:
    """``width`` is in characters."""

    name: str
    width: float = 12


class SheetWriter(Protocol):
    """One table that is being written."""

    def append(self, row: Sequence[Cell]) -> None: ...


def value_of(cell: Cell) -> CellValue:
    return cell.value if isinstance(cell, Styled) else cell


def begins_formula(text: str) -> bool:
    """Whether a spreadsheet may take ``text`` for a formula: it begins with = + - @ or the like and is not a number."""
    return _BEGINS_FORMULA.match(text) is not None and _PLAIN_NUMBER.fullmatch(text) is None


def cell_text(text: str) -> str:
    """``text`` cut to what a cell can hold, with characters that XML does not allow replaced."""
    text = _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
    return text if len(text) <= MAX_CELL_CHARACTERS else text[: MAX_CELL_CHARACTERS - 1] + "…"


def number_format(unit: str | None, value: float) -> str:
    """Excel's number format for ``value`` in ``unit``: thousands separators, and the decimals that are usual for it."""
    if unit == "percent":
        return '0.0#"%"'
    if unit is not None and unit.endswith("/share"):
        return "#,##0.00##"
    if unit in ("ratio", "pure"):
        return "#,##0.00##" if value % 1 else "#,##0"
    if unit == "days":
        return "#,##0.0"
    return "#,##0" if abs(value) >= 1000 or not value % 1 else "#,##0.00"

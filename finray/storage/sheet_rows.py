"""Rows of a table that a person made, as a sheet of a workbook or as CSV, before anything knows what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from finray.core.errors import SourceError
from finray.storage.sheets import Cell, value_of

MAX_COLUMNS = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """A row that is not empty, its ``number`` in the file counted from 1. The last of ``cells`` has a value.

    ``filled`` are the columns whose value is that of a merged cell above, ``problems`` what is wrong in a column.
    """

    number: int
    cells: tuple[Cell, ...]
    filled: frozenset[int] = frozenset()
    problems: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SheetRows:
    """One sheet (``name`` is empty for CSV), and remarks about it, each one line for a person."""

    name: str
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = ()


def trimmed(cells: Sequence[Cell], where: str) -> tuple[Cell, ...]:
    """``cells`` without empty ones at the end; blank text is empty. Raises SourceError for more than MAX_COLUMNS."""
    end = len(cells)
    while end and is_blank(cells[end - 1]):
        end -= 1
    if end > MAX_COLUMNS:
        raise SourceError(f"{where}: {end:,} columns; finray reads {MAX_COLUMNS:,}. Delete those that are not needed")
    return tuple(cells[:end])


def is_blank(cell: Cell) -> bool:
    value = value_of(cell)
    return value is None or (isinstance(value, str) and not value.strip())


def some(names: Iterable[str], most: int = 3) -> str:
    """The first of ``names``, and how many more there are."""
    known = list(names)
    more = f" and {len(known) - most:,} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more

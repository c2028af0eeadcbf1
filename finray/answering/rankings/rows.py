"""Rows of a table that may be ranked with one another: those under one heading, up to the row that is their total, and
those that a question names."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from finray.answering.cells.page_cells import PageCell, measure_of
from finray.question.synonyms import words_of

_LEAST_ADDED = 2
_TOLERANCE = 0.001
_ENDS = re.compile(
    r"^\W{0,3}(?:sub)?totals?\b|\b(?:consolidated|combined|unallocated|corporate (?:expenses?|costs?|items?)|"
    r"intersegment|eliminations?|reconciling)\b",
    re.I,
)
"""Rows that end a list: totals, and what reconciles them with the whole company."""


@dataclass(slots=True)
class Row:
    """The cells of a printed row with one measure: amounts, shares, percent ..."""

    label: str
    section: str
    cells: list[PageCell] = field(default_factory=list)


def tables_of(cells: Iterable[PageCell]) -> list[list[Row]]:
    """The rows of each table, one list for each measure, in reading order."""
    tables: dict[object, dict[object, Row]] = {}
    for cell in cells:
        item = cell.item
        table = tables.setdefault((cell.filing.filing_id, item.page, item.caption, measure_of(item)), {})
        row = table.setdefault((item.row, item.label), Row(item.label, item.section or ""))
        row.cells.append(cell)
    return [list(rows.values()) for rows in tables.values()]


def runs_of(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Runs of rows under one heading, without the rows that add them up. A run may be empty."""
    run: list[Row] = []
    for row in rows:
        if run and row.section != run[-1].section:
            yield run
            run = []
        parts = _parts_of_total(row, run)
        if parts or _ENDS.search(row.label):
            yield run[-parts:] if parts else run
            run = []
        else:
            run.append(row)
    yield run


def _parts_of_total(row: Row, above: Sequence[Row]) -> int:
    """How many of the last rows ``above`` add up to ``row`` in each of its columns; 0 if none or fewer than two do."""
    wanted = {cell.item.column: cell.item.value for cell in row.cells}
    sums = dict.fromkeys(wanted, 0.0)
    for count, other in enumerate(reversed(above), start=1):
        for cell in other.cells:
            if cell.item.column in sums:
                sums[cell.item.column] += cell.item.value
        near = (math.isclose(sums[column], value, rel_tol=_TOLERANCE) for column, value in wanted.items())
        if count >= _LEAST_ADDED and all(near):
            return count if any(wanted.values()) else 0
    return 0


def named_rows(rows: Sequence[Row], words: Collection[str]) -> list[Row]:
    """Those of ``rows`` that the question names: it has at least half of the ``words`` that few rows share."""
    labels = [frozenset(words_of(row.label)) for row in rows]
    counts = Counter(word for label in labels for word in label)
    found = []
    for row, label in zip(rows, labels, strict=True):
        rare = [word for word in label if counts[word] <= max(1, len(rows) // 4) and not word.isdigit()]
        if rare and sum(word in words for word in rare) * 2 >= len(rare):
            found.append(row)
    return found

"""A stored table as it is shown: its title, the words over its columns, and the line items of its rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self, TypeVar

from finray.core.filing import Filing, LineItem, Page
from finray.core.tables import Row, Table, line_items
from finray.evidence.heads import in_words, length_words, names_length, period_note

MIN_LISTED = 5
"""Minimum number of rows of a table of contents."""
LONG_LABEL = 120
"""Characters; a longer label is a sentence."""
MAX_HEAD = 100
"""Characters; a longer text over a column is a sentence."""
MAX_TITLE, MIN_TITLE = 200, 30
"""Characters of a title that are shown."""
_MOSTLY = 0.6
"""Minimum share of a column's figures that its head is true of."""
T = TypeVar("T")
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class ShownTable:
    """``heads`` are over the columns of ``table``; ``corner`` has the unit and what all columns have in common.
    ``items`` are the line items of each (page, row), by column."""

    table: Table
    title: str
    corner: str
    heads: tuple[str, ...]
    unit: tuple[str, int] | None
    """Unit and scale of most figures."""
    items: Mapping[tuple[int, int], Mapping[int, LineItem]]

    @classmethod
    def of(cls, table: Table, page: Page, filing: Filing) -> Self:
        """``table`` of ``filing``; ``page`` is the one that it begins on."""
        items: dict[tuple[int, int], dict[int, LineItem]] = {}
        for item in line_items(table, unlabeled=True):
            items.setdefault((item.page, item.row), {})[item.column] = item
        every = [item for row in items.values() for item in row.values()]
        unit = _usual_unit(every)
        common, heads = _heads(table, items.values(), filing, unit)
        corner = ", ".join(filter(None, (in_words(*unit) if unit else "", common)))
        return cls(table, _title(table, page), corner, heads, unit, items)

    @property
    def printed_heads(self) -> str:
        """Everything that is printed above the rows."""
        return " ".join((self.table.caption, self.table.title, *(h for each in self.table.columns for h in each.heads)))

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.table.rows

    def items_of(self, row: Row) -> Mapping[int, LineItem]:
        return self.items.get((row.page, row.row), {})

    def span(self, page: int) -> tuple[int, int]:
        """The (start, end) of the table in the text of ``page``."""
        placed = [row for row in self.rows if row.page == page and row.end]
        return min((row.start for row in placed), default=0), max((row.end for row in placed), default=0)


def is_prose(table: Table) -> bool:
    """Whether a table is running text whose figures stand apart from it."""
    return all(len(row.label) > LONG_LABEL for row in table.rows if row.cells)


def is_contents(table: Table) -> bool:
    """Whether a table lists titles and page numbers: one column of small whole numbers that never decrease."""
    figures = [[cell.text for cell in row.cells] for row in table.rows if row.cells]
    if len(figures) < MIN_LISTED or any(len(each) > 1 or not each[0].isdigit() or len(each[0]) > 3 for each in figures):
        return False
    numbers = [int(each[0]) for each in figures]
    return all(first <= second for first, second in pairwise(numbers))


def _usual_unit(items: Sequence[LineItem]) -> tuple[str, int] | None:
    """The unit and scale of most of ``items``, not counting percentages unless there is nothing else."""
    counts = Counter((item.unit, item.scale) for item in items if item.unit != "percent")
    counts = counts or Counter((item.unit, item.scale) for item in items)
    return counts.most_common(1)[0][0] if counts else None


def _heads(
    table: Table, rows: Iterable[Mapping[int, LineItem]], filing: Filing, unit: tuple[str, int] | None
) -> tuple[str, tuple[str, ...]]:
    """What all columns have in common, and the head of each: as printed, with the period and the unit of its figures if
    these do not show there."""
    figures: dict[int, list[LineItem]] = {column.column: [] for column in table.columns}
    for row in rows:
        for number, item in row.items():
            figures[number].append(item)
    common, printed = _shared([[text for text in column.heads if len(text) <= MAX_HEAD] for column in table.columns])
    periods = [_mostly((item.period_end, item.months) for item in figures[each.column]) for each in table.columns]
    heads = []
    for column, head, period in zip(table.columns, printed, periods, strict=True):
        note = period_note(f"{common} {head}", *period, filing) if period is not None else ""
        of_column = _mostly((item.unit, item.scale) for item in figures[column.column])
        other = in_words(*of_column) if of_column is not None and of_column != unit else ""
        notes = ", ".join(text for text in (note, other) if text and text not in head)
        heads.append(f"{head} ({notes})" if head and notes else head or notes)
    lengths = {period[1] for period in periods if period is not None and period[0] is not None}
    if len(lengths) == 1 and not any(map(names_length, (common, *heads))):
        common = f"{common} {length_words(lengths.pop())}".strip()
    return common, tuple(heads)


def _shared(levels: Sequence[Sequence[str]]) -> tuple[str, list[str]]:
    """The outer heads that all columns have in common, and the other heads of each column."""
    rest = [list(dict.fromkeys(each)) for each in levels]
    common: list[str] = []
    while len(rest) > 1 and all(len(each) > 1 for each in rest) and len({each[0] for each in rest}) == 1:
        common.append(rest[0][0])
        rest = [each[1:] for each in rest]
    return " ".join(common), [" ".join(each) for each in rest]


def _mostly(values: Iterable[T]) -> T | None:
    """The value that most of ``values`` are; None if none is."""
    counts = Counter(values)
    if not counts:
        return None
    value, count = counts.most_common(1)[0]
    return value if count >= _MOSTLY * counts.total() else None


def _title(table: Table, page: Page) -> str:
    """The heading above the table, its caption and the lines over its columns, each unless another one repeats it."""
    start = next((row.start for row in table.rows if row.end and row.page == table.page), 0)
    labels = {row.label for row in table.rows}
    headings = (line.strip() for line in page.headings.split("\n"))
    titles = [text for text in headings if " " in text and " | " not in text and text not in labels]
    above = next((text for text in reversed(titles) if page.text.find(text, 0, start) >= 0), "")
    parts: list[str] = []
    for part in (above, shortened(table.caption), shortened(table.title)):
        words = _words(part)
        if not any(words <= _words(other) for other in parts):
            parts = [*(other for other in parts if not _words(other) <= words), part]
    return " — ".join(parts)


def shortened(title: str) -> str:
    """The end of a long title, which is next to the table: its last sentence if that is long enough."""
    if len(title) <= MAX_TITLE:
        return title
    end = title[-MAX_TITLE:]
    _, found, last = end.partition(". ")
    return last if found and len(last) >= MIN_TITLE else f"… {end.partition(' ')[2]}"


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))

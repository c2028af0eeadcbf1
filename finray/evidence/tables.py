"""A printed table with its columns: rows of the page's text joined with the line items that were read from them.

The text has every row, heading and footnote, but no columns. Line items have columns, periods, units and scales, but
exist only for rows that could be read. The figures of a row without line items are placed in order if they fill all
columns; otherwise they share the last one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from finray.core.filing import Filing, LineItem, Page
from finray.evidence.heads import column_heads, only_periods, unit_words, usual_unit
from finray.evidence.page_lines import Line, all_years
from finray.evidence.page_parts import Row, TablePart
from finray.filings.tables.cells import MAX_NUMBER_COLUMNS

AHEAD = 30
"""How many of the next rows of line items are compared with a printed row."""
_NOTE_MARK = re.compile(r"\((?:[a-z]|\d{1,2})\)")
_KEY = re.compile(r"[^a-z0-9]+")
_DIGITS = re.compile(r"[^\d.]+")


@dataclass(frozen=True, slots=True)
class TableRow:
    """``cells`` are figures as printed, by column; ``items`` the line items among them."""

    label: str
    cells: Mapping[int, str] = field(default_factory=dict)
    items: Mapping[int, LineItem] = field(default_factory=dict)
    start: int = 0
    end: int = 0

    @property
    def is_heading(self) -> bool:
        return not self.cells


@dataclass(frozen=True, slots=True)
class Table:
    """``columns`` are the numbers of the columns in order, ``heads`` their heads; ``corner`` is the unit and what all
    columns have in common. ``title`` is the heading or sentence above."""

    start: int
    end: int
    title: str
    corner: str
    columns: tuple[int, ...]
    heads: tuple[str, ...]
    rows: tuple[TableRow, ...]
    unit: tuple[str, int] | None = None
    """Unit and scale of most figures."""
    of_items: bool = False
    """Whether the table was built from line items alone, so it lacks rows without any."""


class ItemRows:
    """The line items of a page by printed row, to be matched in reading order with the rows of its text."""

    def __init__(self, items: Sequence[LineItem]) -> None:
        rows: dict[int, list[LineItem]] = {}
        for item in items:
            if item.column:  # tagged numbers in sentences have none
                rows.setdefault(item.row, []).append(item)
        self.rows = [sorted(rows[number], key=lambda item: item.column) for number in sorted(rows)]
        self._keys = [_figures_key([item.text for item in row]) for row in self.rows]
        self._labels = [_label_key(row[0].label) for row in self.rows]
        self._next = 0
        self.matched = 0

    def take(self, row: Row) -> tuple[Sequence[LineItem], int] | None:
        """The line items of a printed row, and how many of the lines above its label belong to the label; None if there
        are none."""
        figures = _figures_key(row.figures)
        for number in self._coming():
            if not _within(self._keys[number], figures):
                continue
            lines = _label_lines(self._labels[number], row)
            if lines is not None:
                self._next = number + 1
                self.matched += 1
                return self.rows[number], lines
        return None

    def total_below(self, row: Row) -> int:
        """How many of the last figures of ``row`` are a total without a label, which the page prints below it."""
        figures = _figures_key(row.figures)
        for number in self._coming():
            key = self._keys[number]
            if self._labels[number] == "total" and 0 < len(key) < len(figures) and figures[-len(key) :] == key:
                return min(len(self.rows[number]), len(row.figures) - 1)
        return 0

    def _coming(self) -> range:
        return range(self._next, min(self._next + AHEAD, len(self.rows)))


def aligned(part: TablePart, items: ItemRows, filing: Filing) -> Table:
    """``part`` with the columns of its line items."""
    rows: list[tuple[Row, str, Sequence[LineItem]]] = []
    for row in _with_totals_apart(part.rows, items):
        taken = items.take(row) if row.figures else None
        found, lines = taken or ((), 0)
        while lines and rows and not rows[-1][0].figures:
            rows.pop()
            lines -= 1
        rows.append((row, _label(found[0].label if found else row.label, row), found))
    read = [item for *_, found in rows for item in found]
    columns = _columns(rows, read)
    placed = [_placed(row, label, found, columns) for row, label, found in rows]
    if read:
        heads, corner = _heads_and_corner(columns, placed, read, filing)
        title = _title([part.title, *(line.words for line in part.lead)], heads)
    else:
        heads, lead = _printed_heads(part, len(columns))
        title, corner = _title([part.title, *(line.words for line in lead)]), ""
    return Table(part.start, part.end, title, corner, columns, heads, tuple(placed), usual_unit(read))


def _with_totals_apart(rows: Sequence[Row], items: ItemRows) -> Iterator[Row]:
    for row in rows:
        below = items.total_below(row) if row.label else 0
        if below:
            yield replace(row, figures=row.figures[:-below])
            yield Row(row.end, row.end, "", row.figures[-below:])
        else:
            yield row


def of_items(items: ItemRows, page: Page, filing: Filing) -> Table:
    """The table of a page whose text is not in reading order, from its line items alone. There must be some."""
    rows: list[TableRow] = []
    section: str | None = None
    read: list[LineItem] = []
    for found in items.rows:
        if found[0].section != section:
            section = found[0].section
            if section:
                rows.append(TableRow(section))
        rows.append(TableRow(found[0].label, {i.column: i.text for i in found}, {i.column: i for i in found}))
        read += found
    columns = tuple(sorted({item.column for item in read}))
    heads, corner = _heads_and_corner(columns, rows, read, filing)
    title = read[0].caption or page.headings.partition("\n")[0]
    return Table(0, len(page.text), title, corner, columns, heads, tuple(rows), usual_unit(read), of_items=True)


def _heads_and_corner(
    columns: Sequence[int], rows: Sequence[TableRow], read: Sequence[LineItem], filing: Filing
) -> tuple[tuple[str, ...], str]:
    heads, common = column_heads(columns, [row.items for row in rows], filing)
    return heads, ", ".join(filter(None, (unit_words(read), common)))


def _label(label: str, row: Row) -> str:
    return row.label if label == "Total" and row.label else label


def _columns(rows: Sequence[tuple[Row, str, Sequence[LineItem]]], read: Sequence[LineItem]) -> tuple[int, ...]:
    """The numbers of the columns; none only if no row has figures."""
    counts = Counter(len(row.figures) for row, *_ in rows if row.figures)
    usual = min(max(counts, key=lambda count: (counts[count], count), default=0), MAX_NUMBER_COLUMNS)
    if not read:
        return tuple(range(1, usual + 1))
    own = {item.column for item in read}
    # Columns without a date have no line items; they exist if most rows print more figures.
    return tuple(range(1, max(usual, max(own)) + 1)) if len(own) < usual else tuple(sorted(own))


def _placed(row: Row, label: str, found: Sequence[LineItem], columns: Sequence[int]) -> TableRow:
    """A printed row with its figures in columns: those of line items in their columns, the others between them."""
    cells: dict[int, str] = {}
    if found:
        waiting = list(found)
        column = columns[0] - 1
        for figure in row.figures:
            if waiting and _figure_key(figure) == _figure_key(waiting[0].text):
                column = waiting.pop(0).column
            else:
                column += 1
            limit = waiting[0].column if waiting else columns[-1] + 1
            if column >= limit > 1:
                column = limit - 1
            cells[column] = f"{cells[column]} {figure}" if column in cells else figure
        for item in waiting:
            cells.setdefault(item.column, item.text)
    elif len(row.figures) == len(columns):
        cells = dict(zip(columns, row.figures, strict=True))
    elif row.figures:
        cells = {columns[-1]: "  ".join(row.figures)}
    return TableRow(label, cells, {item.column: item for item in found}, row.start, row.end)


def _printed_heads(part: TablePart, count: int) -> tuple[tuple[str, ...], list[Line]]:
    """The heads of ``count`` columns from lines that name all of them, and the other lines."""
    heads = [""] * count
    rest: list[Line] = []
    for line in part.lead:
        cells = line.cells
        if len(cells) == count + 1 and not all_years(cells):
            cells = cells[1:]
        if len(cells) == count > 1:
            heads = [f"{head} {cell}".strip() for head, cell in zip(heads, cells, strict=True)]
        else:
            rest.append(line)
    return tuple(heads), rest


def _title(lines: Sequence[str], heads: Sequence[str] = ()) -> str:
    """The lines above a table without those that its heads repeat."""
    known = {word for head in heads for word in _words(head)}
    kept: dict[str, None] = {}
    for line in lines:
        words = _words(line)
        repeats = heads and (
            words <= known or (only_periods(line) and (" | " in line or not any(map(str.isdigit, line))))
        )
        if words and not repeats and not all(word.isdigit() for word in words):
            kept.setdefault(line)
    return " — ".join(kept)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


@lru_cache(maxsize=16_384)
def _label_key(text: str) -> str:
    return _KEY.sub("", _NOTE_MARK.sub("", text.lower()))


@lru_cache(maxsize=16_384)
def _figure_key(text: str) -> str:
    return _DIGITS.sub("", text).strip(".")


def _figures_key(texts: Iterable[str]) -> tuple[str, ...]:
    """The digits of each figure; dashes are left out."""
    return tuple(filter(None, map(_figure_key, texts)))


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether ``part`` is a subsequence of ``whole`` and not empty."""
    rest = iter(whole)
    return bool(part) and all(figure in rest for figure in part)


def _label_lines(key: str, row: Row) -> int | None:
    """How many lines above a row complete its label to ``key``; None if none do."""
    own = _label_key(row.label)
    if key == own or (key == "total" and not own) or (len(own) > 20 and key.startswith(own)):
        return 0
    text = own
    for count, line in enumerate(reversed(row.above), start=1):
        text = _label_key(line) + text
        if text == key:
            return count
    if own and len(own) >= 4 and (key.endswith(own) or own.endswith(key)):
        return 0
    return None

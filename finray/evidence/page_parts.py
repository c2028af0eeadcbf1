"""A page as tables and prose, in reading order, from its printed lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from finray.evidence.page_lines import Line, all_years, is_mark, joined, names_years, page_lines

MAX_GAP = 6
"""Maximum number of lines of words between two rows of a table."""
MAX_LEAD = 16
"""Maximum number of lines of words above a table that are its title and heads."""
MIN_ROWS = 2
MIN_LISTED = 5
"""Minimum number of rows of a table of contents."""
MAX_INTRODUCTION = 90
"""A shorter line that ends in a colon heads a table or rows of one."""
_LOWER = re.compile(r"\b[a-z]{2,}")
_IN_PARENTHESES = re.compile(r"\([^()]{1,200}\)")
"""A unit: "(In millions, except per share amounts)"."""
_SENTENCE_END = re.compile(r"[.;:!?][”\")\]]*$")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table as printed. A row without figures is a heading inside the table."""

    start: int
    end: int
    label: str
    figures: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    """The lines before ``label`` that may be its beginning."""


@dataclass(frozen=True, slots=True)
class TablePart:
    """``lead`` are the lines above the rows: title, unit, heads of columns. ``title`` is the sentence or heading above
    these."""

    start: int
    end: int
    rows: tuple[Row, ...]
    lead: tuple[Line, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class ProsePart:
    """The lines from ``start`` to ``end`` of the page, which have no table."""

    start: int
    end: int
    lines: tuple[Line, ...]
    heading: str = ""


Part = TablePart | ProsePart


@dataclass(frozen=True, slots=True)
class _Item:
    """A line of words or a row. ``years`` are the heads of columns that a line prints."""

    line: Line
    row: Row | None = None
    prose: bool = False
    years: tuple[str, ...] = ()

    @property
    def as_line(self) -> Line:
        """The line, with the figures of a row outside a table."""
        row = self.row
        return self.line if row is None else Line(row.start, row.end, row.label, row.figures)


def page_parts(text: str, headings: Collection[str] = ()) -> list[Part]:
    """The tables and the prose of a page, in order. ``headings`` are those printed on it."""
    items = _items(page_lines(text))
    known = {heading.strip() for heading in headings}
    parts: list[Part] = []
    heading = ""
    at = 0
    for first, last in [*_tables(items), (len(items), len(items))]:
        before = items[at:first]
        lead = _lead(before) if last > first else 0
        prose = [item.as_line for item in before[: len(before) - lead]]
        if prose:
            parts.append(ProsePart(prose[0].start, prose[-1].end, tuple(prose), heading))
        heading = next((line.words for line in reversed(prose) if line.words in known), heading)
        if last > first:
            parts.append(_table(items[first - lead : last], lead, prose, heading))
        at = last
    return parts


def is_contents(part: TablePart) -> bool:
    """Whether a table lists titles and page numbers: one column of small whole numbers that never decrease."""
    figures = [row.figures for row in part.rows if row.figures]
    if len(figures) < MIN_LISTED or any(len(each) > 1 or not each[0].isdigit() or len(each[0]) > 3 for each in figures):
        return False
    numbers = [int(each[0]) for each in figures]
    return all(first <= second for first, second in pairwise(numbers))


def _items(lines: Sequence[Line]) -> list[_Item]:
    """Lines of words, and rows: figures with the line of words before them."""
    reader = _ItemReader()
    for number, line in enumerate(lines):
        within_row = number + 1 < len(lines) and not lines[number + 1].words and reader.figures
        if not (within_row and is_mark(line.words)):
            reader.add(line)
    return _with_prose(reader.finished())


class _ItemReader:
    """Collects items line by line. Words wait for figures, which they may be the label of; figures wait for others of
    their row."""

    def __init__(self) -> None:
        self.figures: list[Line] = []
        self._words: list[Line] = []
        self._items: list[_Item] = []
        self._years = False
        """Whether the figures so far are years."""

    def add(self, line: Line) -> None:
        if line.words or line.cells:
            self._close()
        if line.words:
            self._words.append(line)
        if line.figures:
            self._add_figures(line)
        if line.cells:
            self._close()
            if not line.figures:
                self._items += map(_Item, self._words[:-1])
                self._items.append(_Item(line, years=line.cells if names_years(line.cells) else ()))
                self._words.clear()

    def finished(self) -> list[_Item]:
        self._close()
        return [*self._items, *map(_Item, self._words)]

    def _add_figures(self, line: Line) -> None:
        own = joined(line.figures)
        after_years = self._years and bool(self.figures)
        if after_years and _digits(own) and not all_years(own):
            years = [each for each in self.figures if _digits(each.figures)]
            if len(years) == 1 == len(joined(years[0].figures)):  # a row of a schedule by years
                self._words.append(replace(years[0], words=years[0].figures[0], figures=()))
                self.figures.remove(years[0])
            else:
                self._close()
        elif self.figures and len(own) == 1 and all_years(own) and self._words and all_years([self._words[-1].words]):
            self._close()
        if _digits(own):
            first = not any(_digits(each.figures) for each in self.figures)
            self._years = (after_years or first) and all_years(own)
        else:
            self._years = after_years
        self.figures.append(line)

    def _close(self) -> None:
        """Ends the row, if any."""
        found = tuple(joined(figure for line in self.figures for figure in line.figures))
        if not found:
            return
        first, last = self.figures[0], self.figures[-1]
        if all_years(found):
            self._items += map(_Item, self._words)
            self._items.append(_Item(Line(first.start, last.end, " ".join(found), cells=found), years=found))
        else:
            *rest, label = self._words or [first]
            self._items += map(_Item, rest)
            above = tuple(line.words for line in rest[-3:])
            row = Row(min(label.start, first.start), last.end, label.words, found, above)
            self._items.append(_Item(label, row))
        self._words.clear()
        self.figures.clear()


def _digits(figures: Sequence[str]) -> bool:
    return any(character.isdigit() for figure in figures for character in figure)


def _with_prose(items: Sequence[_Item]) -> list[_Item]:
    """``items`` with sentences marked: long lines of words and the lines that continue them."""
    marked: list[_Item] = []
    for item in items:
        words = item.line.words
        before = marked[-1] if marked else None
        introduces = (words.endswith(":") and len(words) < MAX_INTRODUCTION) or _IN_PARENTHESES.fullmatch(words)
        long = len(words) > 60 and len(_LOWER.findall(words)) > 5 and not introduces
        after = (
            before is not None
            and before.prose
            and not _SENTENCE_END.search(before.line.words)
            and len(before.line.words) > 60
            and (len(words) > 60 or not words[:1].isupper())
        )
        ends = len(words) > 40 and words.endswith((".", ";", ".”"))
        prose = item.row is None and not item.years and not item.line.cells and (long or ends or after)
        marked.append(_Item(item.line, prose=True) if prose else item)
    return marked


def _tables(items: Sequence[_Item]) -> list[tuple[int, int]]:
    """The [start, end) of the items of each table, from its first row to its last."""
    tables: list[list[int]] = []
    for number, item in enumerate(items):
        if item.row is None:
            continue
        between = items[tables[-1][-1] + 1 : number] if tables else ()
        if tables and len(between) <= MAX_GAP and not any(each.prose or each.years for each in between):
            tables[-1].append(number)
        else:
            tables.append([number])
    return [
        (rows[0], rows[-1] + 1)
        for rows in tables
        if len(rows) >= MIN_ROWS or sum(len(row.figures) for number in rows if (row := items[number].row)) > 2
    ]


def _lead(before: Sequence[_Item]) -> int:
    """How many of the items before a table's first row belong to it."""
    nearest = reversed(before[-MAX_LEAD:])
    return len(list(takewhile(lambda item: not item.prose and item.row is None, nearest)))


def _table(items: Sequence[_Item], lead: int, prose: Sequence[Line], heading: str) -> TablePart:
    last = max((at for at in range(lead) if items[at].years or items[at].line.cells), default=-1)
    heads = items[: last + 1 if last >= 0 else lead]
    rows = [item.row or Row(item.line.start, item.line.end, item.line.words) for item in items[len(heads) :]]
    introduced = prose and prose[-1].words.endswith(":")
    title = prose[-1].words if introduced else heading
    return TablePart(
        items[0].line.start if heads else rows[0].start,
        rows[-1].end,
        tuple(_split_rows(rows)),
        tuple(item.line for item in heads),
        title,
    )


def _split_rows(rows: Sequence[Row]) -> list[Row]:
    """``rows`` with each row split that has a multiple of the usual number of figures: in a PDF, the figures of a row
    without a label follow those of the row before."""
    counts = Counter(len(row.figures) for row in rows if row.figures)
    usual = counts.most_common(1)[0][0] if counts else 0
    split: list[Row] = []
    for row in rows:
        count = len(row.figures)
        if usual > 1 and count > usual and count % usual == 0 and counts[usual] > 1 == counts[count]:
            for first in range(0, count, usual):
                figures = row.figures[first : first + usual]
                split.append(replace(row, figures=figures) if not first else Row(row.end, row.end, "", figures))
        else:
            split.append(row)
    return split

"""Which figures that OCR read are doubted, and why.

Tesseract's confidence in a word does not reach the text that MuPDF makes of a page, so other witnesses decide: a second
reading of the page at another resolution, how the rest of the row is printed, sums of rows, and repeats of a figure in
the filing. A sum that holds speaks for each of its figures, unless one is printed oddly: if OCR reads all commas of a
column as points, its sums still hold.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product

from finray.core.filing import LineItem
from finray.core.ocr_marks import OcrMark, figure_of
from finray.filings.pdf.lines import PositionedWord
from finray.filings.tables.canonical import plain_label
from finray.filings.tables.cells import is_year

MAX_ADDENDS = 15
"""Rows that a total may sum up."""
ROUNDING = 0.51
"""By how much of its last digit each figure of a sum may be rounded."""
LEAST_DIGITS = 4
"""Digits of a total, or of a repeated figure, that hardly agrees with others by chance."""
_MARGIN = 1.0
"""Points by which the second reading may place a word beside the cell."""
_COLUMNS_BY_CHANCE = 1
"""Columns in which a sum of short figures may hold by chance."""
_DECIMALS = re.compile(r"\.(\d+)\D*$")
_GROUPED = re.compile(r"\d,\d{3}")
_UNGROUPED = re.compile(r"(?<![\d,.])\d{4,}(?![\d.])")
_THOUSANDTHS = re.compile(r"(?<!\d)[1-9]\d{0,2}\.\d{3}(?!\d)")
_AROUND = re.compile(r"[()%\s]")

_Place = tuple[int, int, int]
"""Page, row and column of a cell."""


def with_marks(items: Sequence[LineItem], again: Mapping[int, Sequence[PositionedWord]]) -> list[LineItem]:
    """``items`` of a filing; those on the pages of ``again``, the second reading by OCR, with their ``ocr`` mark."""
    read = [item for item in items if item.page in again]
    doubts: dict[_Place, OcrMark] = {}
    for item in read:
        if item.box is not None and figure_of(item.text) != figure_of(_text_at(item.box, again[item.page])):
            doubts[_place(item)] = "differs"
    holding, breaking = _sums(read)
    repeated, unlike = _repeats(items)
    doubts = {place: why for place, why in doubts.items() if place not in repeated}
    for place in unlike:
        doubts.setdefault(place, "unlike_repeat")
    for item in _oddly_printed(read):
        doubts[_place(item)] = "odd_print"
    for places in breaking:
        suspects = places - holding
        if not suspects & doubts.keys():
            doubts |= dict.fromkeys(suspects, "breaks_sum")
    marks = {place: why for place, why in doubts.items() if place not in holding or why == "odd_print"}
    return [replace(item, ocr=marks.get(_place(item), "stands")) if item.page in again else item for item in items]


def differing_figures(words: Sequence[PositionedWord], again: Sequence[PositionedWord]) -> tuple[str, ...]:
    """The figures among the ``words`` of a page that its second reading prints otherwise, each once."""
    figures = (word for word in words if any(map(str.isdigit, word[4])))
    return tuple(
        dict.fromkeys(word[4] for word in figures if figure_of(word[4]) != figure_of(_text_at(word[:4], again)))
    )


def _place(item: LineItem) -> _Place:
    return item.page, item.row, item.column


def _text_at(box: Sequence[float], words: Sequence[PositionedWord]) -> str:
    x0, y0, x1, y1 = box
    centered = (
        word
        for word in words
        if x0 - _MARGIN < (word[0] + word[2]) / 2 < x1 + _MARGIN and y0 < (word[1] + word[3]) / 2 < y1
    )
    return "".join(word[4] for word in sorted(centered, key=lambda word: word[0]))


def _oddly_printed(items: Sequence[LineItem]) -> Iterator[LineItem]:
    """Figures whose decimals or thousands are not printed as those of their row or page are, which tells of a lost or
    misread point or comma, and short ones with a "$" that the rest of their row lacks: it may be a digit."""
    grouped = {item.page for item in items if _GROUPED.search(item.text)}
    for _, cells in groupby(items, key=lambda item: (item.page, item.row)):
        row = [item for item in cells if item.unit != "percent" and figure_of(item.text)]
        most = max((n for item in row if (n := _decimals(item.text)) < 3), default=0)
        for item in row:
            by_groups = item.page in grouped and (
                (_UNGROUPED.search(item.text) and not is_year(item.text))
                or (_THOUSANDTHS.search(item.text) and not item.unit.endswith("/share"))
            )
            fewer = _decimals(item.text) < most and item.unit != "pure"
            others = [each for each in row if each is not item]
            lone = "$" in item.text and all("$" not in each.text and _is_shorter(item, each) for each in others)
            if by_groups or fewer or (lone and others):
                yield item


def _is_shorter(item: LineItem, other: LineItem) -> bool:
    return item.unit == other.unit and len(_digits(item.text)) < len(_digits(other.text))


def _decimals(text: str) -> int:
    found = _DECIMALS.search(text)
    return len(found[1]) if found else 0


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of figures by column. ``step`` is the value of its last digit."""

    cells: Mapping[int, LineItem]
    step: float

    def value(self, column: int) -> float:
        return self.cells[column].value if column in self.cells else 0.0


def _sums(items: Sequence[LineItem]) -> tuple[set[_Place], list[set[_Place]]]:
    """The cells of sums that hold, and for each sum that holds in other columns only the cells of this one.

    Rows above a total add up to it, or are what is left of the first; a total then stands for its rows.
    """
    holding: set[_Place] = set()
    breaking: list[set[_Place]] = []
    for _, of_page in groupby(items, key=lambda item: item.page):
        above: list[_Row] = []
        for row in _rows(of_page):
            count, sums = _addends(row, above)
            for column, holds in sums.items():
                cells = {_place(r.cells[column]) for r in (*above[len(above) - count :], row) if column in r.cells}
                if holds:
                    holding |= cells
                else:
                    breaking.append(cells)
            if count:
                del above[len(above) - count :]
            above.append(row)
    return holding, breaking


def _rows(items: Iterable[LineItem]) -> Iterator[_Row]:
    """The rows of money and counts; percentages and figures per share do not add up."""
    for _, of_row in groupby(items, key=lambda item: item.row):
        cells = {item.column: item for item in of_row if item.unit != "percent" and not item.unit.endswith("/share")}
        if cells:
            yield _Row(cells, min(item.scale * 10.0 ** -_decimals(item.text) for item in cells.values()))


def _addends(total: _Row, above: Sequence[_Row]) -> tuple[int, Mapping[int, bool]]:
    """How many rows ``above`` add up to ``total`` in most columns, and whether they do in each column; (0, {}) if no
    number of rows does."""
    columns = [column for column, item in total.cells.items() if item.value]
    best: tuple[int, Mapping[int, bool]] = 0, {}
    most = max(1, math.ceil(len(columns) / 2)) - 1
    for count, sign in product(range(2, min(len(above), MAX_ADDENDS) + 1), (1, -1)):
        rows = above[-count:]
        sums = {column: _holds(total, rows, sign, column) for column in columns}
        holding = [column for column, holds in sums.items() if holds]
        long = any(len(_digits(total.cells[column].text)) >= LEAST_DIGITS for column in holding)
        if len(holding) > most and (long or len(holding) > _COLUMNS_BY_CHANCE):
            most = len(holding)
            best = count, {column: holds for column, holds in sums.items() if holds is not None}
    return best


def _holds(total: _Row, rows: Sequence[_Row], sign: int, column: int) -> bool | None:
    """Whether ``rows`` add up in ``column``; None if rounding or a cell that is missing may explain that they do not,
    or if the column has fewer than two of them."""
    first, *others = (row.value(column) for row in rows)
    off = abs(first + sign * sum(others) - total.value(column))
    present = sum(column in row.cells for row in rows)
    if present < 2:
        return None
    if off <= 2 * ROUNDING * total.step:
        return True
    return False if present == len(rows) and off > ROUNDING * (len(rows) + 1) * total.step else None


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _repeats(items: Sequence[LineItem]) -> tuple[set[_Place], set[_Place]]:
    """The cells that another row of the same name repeats, and those that it repeats but for a glyph."""
    alike: dict[tuple[object, ...], list[LineItem]] = defaultdict(list)
    for item in items:
        if item.period_end is not None and item.column_label is None and item.unit != "percent":
            key = plain_label(item.label), item.period_end, item.months, item.registrant
            alike[key].append(item)
    same: set[_Place] = set()
    unlike: set[_Place] = set()
    for own in alike.values():
        for item in own:
            others = [other for other in own if (other.page, other.row) != (item.page, item.row)]
            if any(abs(other.value) == abs(item.value) for other in others) and len(_digits(item.text)) > 2:
                same.add(_place(item))
            elif any(_glyph_apart(item.text, other.text) for other in others if other.section == item.section):
                unlike.add(_place(item))
    return same, unlike


def _glyph_apart(a: str, b: str) -> bool:
    """Whether two printed figures differ in one glyph, such as "$13,983" and "513,983"."""
    a, b = _AROUND.sub("", a), _AROUND.sub("", b)
    if len(a) != len(b) or not any(map(str.isdigit, a)):
        return False
    differ = [pair for pair in zip(a, b, strict=True) if pair[0] != pair[1]]
    if len(differ) != 1:
        return False
    return "$" in differ[0] or len(_digits(a)) >= LEAST_DIGITS

"""The text of a page as printed lines, with figures separate from words.

The text of an HTML page has a line for each row of a table, its cells joined by " | ". That of a PDF page has a line
for each cell, in reading order, so a row is a label and the lines of figures after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from finray.filings.tables.cells import MAX_CELL, is_year, parse_number

MAX_LINES = 4_000
"""Lines read of a page; printed ones have hundreds."""
MAX_LABEL_CHARACTERS = 60
"""A longer line that ends in a single figure is a sentence."""
_PREFIXES = frozenset(("$", "€", "£", "¥", "US$", "C$", "R$", "($", "(", "$("))
_NO_FIGURE = frozenset(("NM", "N/M", "N.M.", "nm", "n/m", "N/A", "NA", "n/a"))
"""Words in place of a figure."""
_SUFFIXES = frozenset((")", "%", ")%", "%)", "¢", "x"))
_MARK = re.compile(r"\((?:[a-z]{1,2}|\d{1,2})\)|[*†‡§]+")
"""A footnote mark."""
_LETTERED = re.compile(r"\([a-z]{1,2}\)|[*†‡§]+")
_SURE = re.compile(r"\d[.,]\d|[$€£¥%()]|\d{3}")
_FOOTER = re.compile(
    r"table of contents|index to (?:the )?(?:consolidated )?financial statements|(?:page |- ?)?[a-z]?-?\d{1,4}(?: ?-)?|"
    r".{0,80}\| ?\d{4} form 10-[kq] ?\|.{0,9}",
    re.I,
)
"""A running header or footer."""
_EDGE_LINES = 3


@dataclass(frozen=True, slots=True)
class Line:
    """The characters ``start`` to ``end`` of the page's text: words, figures, or both if the line is a row of a table.

    ``figures`` may contain lone signs ("$"), which :func:`joined` joins to their number. ``cells`` are those of an HTML
    row.
    """

    start: int
    end: int
    words: str = ""
    figures: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()


def page_lines(text: str) -> list[Line]:
    """The lines of a page that are not blank, without running headers and footers."""
    placed = [(start, line) for start, line in _split(text) if line.strip()][:MAX_LINES]
    above = _edge(line for _, line in placed[:_EDGE_LINES])
    below = _edge(line for _, line in reversed(placed[above:][-_EDGE_LINES:]))
    return [_read(" ".join(raw.split()), start, start + len(raw)) for start, raw in placed[above : len(placed) - below]]


def _edge(lines: Iterable[str]) -> int:
    """The number of running headers or footers among ``lines``, from the edge of a page inward. Only one may be a
    number, that of the page: a second one is the last figure of a table."""
    count, numbered = 0, False
    for raw in lines:
        line = " ".join(raw.split())
        if not _FOOTER.fullmatch(line) or (numbered and line.isdigit()):
            break
        count += 1
        numbered = numbered or line.isdigit()
    return count


def joined(figures: Iterable[str]) -> list[str]:
    """``figures`` with lone signs and parentheses joined to their number."""
    found: list[str] = []
    prefix = ""
    for figure in figures:
        if figure in _PREFIXES:
            prefix += figure
        elif figure in _SUFFIXES:
            if found:
                found[-1] += figure
        else:
            found.append(prefix + figure)
            prefix = ""
    return found


def is_mark(words: str) -> bool:
    """Whether a line is only a footnote mark. "(1)" is a figure."""
    return _LETTERED.fullmatch(words) is not None


def all_years(figures: Sequence[str]) -> bool:
    """Whether all figures are years, which head columns."""
    return bool(figures) and all(is_year(_MARK.sub("", figure)) for figure in figures)


def names_years(cells: Sequence[str]) -> bool:
    """Whether a cell of a line begins with a year and so heads a column: "2022", "2021 (As Restated)"."""
    return any(is_year(cell[:4]) and not cell[4:5].isdigit() for cell in cells)


def _split(text: str) -> Iterator[tuple[int, str]]:
    """(start, line) of each line of ``text``."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _read(line: str, start: int, end: int) -> Line:
    if " | " in line and (cells := [cell for cell in map(str.strip, line.split(" | ")) if cell]):
        return _of_cells(cells, start, end)
    if is_mark(line):
        return Line(start, end, line)
    tokens = line.split()
    first = len(tokens)
    while first and _is_figure(tokens[first - 1]):
        first -= 1
    while 0 < first < len(tokens) and _MARK.fullmatch(tokens[first]):
        first += 1  # "Total assets (1)"
    if not first and is_year(tokens[0]) and not all_years(joined(tokens)):
        first = 1  # a row of a schedule by years
    words, figures = " ".join(tokens[:first]), tuple(tokens[first:])
    if words and not _are_data(joined(figures), words):
        words, figures = line, ()
    return Line(start, end, words, figures)


def _of_cells(cells: Sequence[str], start: int, end: int) -> Line:
    """A row of an HTML table."""
    dated = is_year(cells[0]) and not all_years(cells)  # a row of a schedule by years
    label = cells[0] if dated or not parse_number(cells[0]) else ""
    rest = tuple(cells[1:] if label else cells)
    if any(cell in _NO_FIGURE or (parse_number(cell) and not is_year(cell)) for cell in rest):
        return Line(start, end, label, rest, tuple(cells))
    return Line(start, end, " | ".join(cells), (), tuple(cells))


@lru_cache(maxsize=16_384)  # most pages have the same dashes, years and signs
def _is_figure(token: str) -> bool:
    if len(token) > MAX_CELL:
        return False
    return (
        token in _PREFIXES
        or token in _SUFFIXES
        or token in _NO_FIGURE
        or (parse_number(token) is not None and ("(" in token or ")" not in token))
        or parse_number(token + ")") is not None
        or _MARK.fullmatch(token) is not None
    )


def _are_data(figures: Sequence[str], words: str) -> bool:
    """Whether figures after words are those of a row, unlike that of "Note 13" or the last of a sentence."""
    data = [figure for figure in figures if not is_year(figure) and not _MARK.fullmatch(figure)]
    if len(data) > 1:
        return True
    return bool(data) and len(words) <= MAX_LABEL_CHARACTERS and _SURE.search(data[0]) is not None

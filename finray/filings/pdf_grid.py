"""The tables of a PDF page as Grids, from the positions of its words.

A PDF has no tables, only words with boxes. Words make lines; wide gaps, "$" and the right edges that numbers share cut
lines into cells; number columns are the intervals that the numbers of all rows cover, so neighbouring columns never
merge. A label that wraps is joined again with the line that carries its numbers. PyMuPDF is not thread-safe: use
processes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

import pymupdf

from finray.filings.cells import (
    Printed,
    arrange,
    data_cells,
    is_year,
    merge_fillers,
    number_columns,
    parse_number,
)
from finray.filings.grids import Grid

GAP = 0.9
"""A gap wider than this share of the line's height starts a new cell; spaces between words are 0.2 to 0.4."""
DASH_GAP = 0.6
SUPERSCRIPT = 0.75
EDGE_TOLERANCE = 2.0
EDGE_SUPPORT = 3
PROSE_SHARE = 0.6
"""A line of text that covers this share of the page's text width is prose, not a label, unless numbers follow it."""

_LEADERS = re.compile(r"[.·…_]{2,}$|^[.·…_]+$|(?<=\s)[.·…](?=\s|$)")
_PERIOD = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|"
    r"aug|sept?|oct|nov|dec|ended|ending|months?|weeks|years?|quarters?|fiscal|as of|restated|unaudited|audited)\b|"
    r"\b(?:19|20)\d\d\b", re.IGNORECASE)
_MONTH_NAME = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?)", re.IGNORECASE)
_SPANNING = re.compile(r"\b(?:ended|ending|months|weeks|years?|quarters?|as of|at)\b|,$", re.IGNORECASE)
_LABEL_GOES_ON = re.compile(r"^(?:[a-z($]|\d)")
_OPEN_ENDED = re.compile(
    r"(?:\b(?:and|or|of|to|in|from|for|by|the|on|at|with|before|after|per|less|including|excluding|than|as|attributable)|"
    r",|—|–|-|\()$", re.IGNORECASE)
_NUMERIC_WORD = re.compile(r"\$|\(?\$?\(?[\d,]*\.?\d+\)?%?|[-–—]|\(|\)|%|\)%")


@dataclass(frozen=True, slots=True)
class _Word:
    x0: float
    y0: float
    x1: float
    y1: float
    text: str


@dataclass(frozen=True, slots=True)
class _Line:
    words: tuple[_Word, ...]
    y0: float
    y1: float

    @property
    def height(self) -> float:
        return max(self.y1 - self.y0, 1.0)


def page_grids(page: pymupdf.Page, number: int) -> list[Grid]:
    """The tables on ``page``, top to bottom; ``number`` is its 0-based page number. Boxes are in PDF points."""
    return grids_of_words(_words(page), number)


def grids_of_words(words: Sequence[tuple[float, float, float, float, str]], number: int) -> list[Grid]:
    """The tables that ``words`` (x0, y0, x1, y1, text; y grows downwards) print."""
    lines = _lines([_Word(*word) for word in words if word[2] > word[0] and word[3] > word[1] and word[4].strip()])
    if not lines:
        return []
    edges = _shared_edges(lines)
    rows = [_cut(line, edges) for line in lines]
    left, right = min(w.x0 for ln in lines for w in ln.words), max(w.x1 for ln in lines for w in ln.words)
    grids = []
    for block in _tables(rows, right - left):
        if grid := _grid(block, number):
            grids.append(grid)
    return grids


def _words(page: pymupdf.Page) -> list[tuple[float, float, float, float, str]]:
    found = []
    for x0, y0, x1, y1, text, *_ in page.get_text("words", sort=False):
        box = pymupdf.Rect(x0, y0, x1, y1)
        if page.rotation:
            box = box * page.rotation_matrix
        found.append((box.x0, box.y0, box.x1, box.y1, text))
    return found


def _lines(words: Sequence[_Word]) -> list[_Line]:
    """Words whose middles are at the same height, left to right."""
    lines: list[list[_Word]] = []
    middle, height = 0.0, 0.0
    for word in sorted(words, key=lambda w: ((w.y0 + w.y1) / 2, w.x0)):
        own = (word.y0 + word.y1) / 2
        if lines and own - middle < 0.45 * min(height, word.y1 - word.y0):
            lines[-1].append(word)
        else:
            lines.append([word])
            middle, height = own, word.y1 - word.y0
    built = []
    for line in lines:
        kept = sorted((w for w in map(_without_leaders, line) if w), key=lambda w: w.x0)
        height = median(w.y1 - w.y0 for w in line)
        ordered = tuple(w for w in kept if not _is_superscript(w, height))
        if ordered:
            built.append(_Line(ordered, median(w.y0 for w in ordered), median(w.y1 for w in ordered)))
    return built


def _is_superscript(word: _Word, height: float) -> bool:
    """A footnote mark set small beside a figure would read as a figure of its own."""
    return word.y1 - word.y0 < SUPERSCRIPT * height and re.fullmatch(r"\(?[a-z\d]{1,2}\)?", word.text) is not None


def _without_leaders(word: _Word) -> _Word | None:
    """Dot leaders between a label and its numbers are not text."""
    text = _LEADERS.sub("", word.text).strip("\u200b\u00ad")
    return replace(word, text=text) if text else None


def _shared_edges(lines: Sequence[_Line]) -> list[float]:
    """Right edges on which numbers of several lines end: columns of figures are set flush right."""
    counts: Counter[int] = Counter()
    for line in lines:
        for word in line.words:
            if re.search(r"\d", word.text) and parse_number(word.text) and not is_year(word.text):
                counts[round(word.x1)] += 1
    return [edge for edge, count in counts.items() if count + counts[edge - 1] + counts[edge + 1] >= EDGE_SUPPORT]


def _cut(line: _Line, edges: Sequence[float]) -> list[Printed]:
    """The cells of a line."""
    runs: list[list[_Word]] = [[line.words[0]]]
    for before, word in pairwise(line.words):
        gap = word.x0 - before.x1
        numeric = _NUMERIC_WORD.fullmatch(word.text) is not None
        after_number = parse_number(" ".join(w.text for w in runs[-1])) is not None
        apart = gap > (DASH_GAP if word.text in "-–—" else GAP) * line.height
        if numeric and not apart and word.text not in {")", "%", ")%"}:
            at_edge = any(abs(word.x1 - edge) <= EDGE_TOLERANCE for edge in edges) and len(word.text) > 1
            grouped = re.search(r"\d,\d{3}|\(\d|\$", word.text) is not None
            apart = word.text == "$" or (at_edge and gap > 0.1 * line.height and (grouped or after_number)) \
                or (after_number and gap > 0.15 * line.height)
        elif after_number and not numeric and gap > 0.3 * line.height and len(runs) > 1:
            apart = True
        if apart or (gap > 0.15 * line.height and _next_period(before.text, word.text)):
            runs.append([word])
        else:
            runs[-1].append(word)
    return merge_fillers([_cell(run, line) for run in runs])


def _next_period(before: str, word: str) -> bool:
    """"December 31, 2022 December 25, 2021" heads two columns, however close they are set."""
    if _MONTH_NAME.fullmatch(word):
        return is_year(before) or re.fullmatch(r"\d{1,2},", before) is not None
    return before.lower() in {"ended", "ended:"} and word.lower() in {"three", "six", "nine", "twelve", "year", "years"}


def _cell(run: Sequence[_Word], line: _Line) -> Printed:
    box = (run[0].x0, min(w.y0 for w in run), run[-1].x1, max(w.y1 for w in run))
    text = run[0].text
    for before, word in pairwise(run):
        text += (" " if word.x0 - before.x1 > 0.08 * line.height else "") + word.text
    text = text.replace("( ", "(").replace(" )", ")")
    return Printed(text, run[0].x0, run[-1].x1, box, indent=run[0].x0)


def _tables(rows: Sequence[list[Printed]], width: float) -> Iterator[list[list[Printed]]]:
    """Cut the page where prose stands between tables, or where a new heading with periods follows figures."""
    block: list[list[Printed]] = []
    has_data = False
    for row in rows:
        data = bool(data_cells(row))
        prose = len(row) == 1 and not data and row[0].x1 - row[0].x0 > PROSE_SHARE * width and len(row[0].text) > 60 \
            and not row[0].text.endswith(":") and row[0].text.endswith(".")
        new_heading = has_data and not data and _is_heading(row)
        if prose or new_heading:
            header = _trailing_heading(block) if new_heading else []
            if has_data:
                yield block[:len(block) - len(header)]
            block, has_data = header, False
        if not prose:
            block.append(row)
        has_data = has_data or data
    if has_data:
        yield block


def _is_heading(row: Sequence[Printed]) -> bool:
    """A row of two or more periods, such as "2022 2021" or "June 30, 2022  December 31, 2021"."""
    cells = row if _PERIOD.search(row[0].text) else row[1:]
    return len(cells) >= 2 and all(_PERIOD.search(cell.text) or cell.text == "$" for cell in cells) and \
        any(re.search(r"\b(?:19|20)\d\d\b|ended|months|weeks", cell.text, re.IGNORECASE) for cell in cells)


def _trailing_heading(block: list[list[Printed]]) -> list[list[Printed]]:
    """The rows without figures at the block's end: they head the next table."""
    start = len(block)
    while start > 0 and not data_cells(block[start - 1]) and len(block) - start < 8:
        start -= 1
    return block[start:]


def _grid(rows: Sequence[list[Printed]], number: int) -> Grid | None:
    columns = number_columns(rows)
    if not columns:
        return None
    first = next(index for index, row in enumerate(rows) if data_cells(row))
    heads = [_stretch(row, columns) for row in rows[:first]]
    body = _join_wrapped([_split_label(row, columns) for row in rows[first:]], columns)
    if first and body:
        heads, body = _take_wrapped_first_label(heads, body, columns)
    return arrange(number, [*heads, *body], columns)


def _split_label(row: list[Printed], columns: Sequence[tuple[float, float]]) -> list[Printed]:
    """Text cells left of the first number column are one label."""
    label = [cell for cell in row if cell.x1 <= columns[0][0] + 1 and not parse_number(cell.text)]
    if len(label) < 2 or row[:len(label)] != label:
        return row
    joined = label[0]
    for cell in label[1:]:
        joined = joined.joined(cell, " ")
    return [joined, *row[len(label):]]


def _stretch(row: list[Printed], columns: Sequence[tuple[float, float]]) -> list[Printed]:
    """A heading is centred over the columns it governs: give it the columns that are nearest to it."""
    over = [cell for cell in row if cell.x1 > columns[0][0] - 2 and (
        cell.x0 >= columns[0][0] - 40 or len(row) == 1 or cell is not row[0])]
    if not over:
        return row
    spanning = [bool(_SPANNING.search(cell.text)) and not is_year(cell.text[-4:]) for cell in over]
    centres = [(cell.x0 + cell.x1) / 2 for cell in over]
    reach = {index: [cell.x0, cell.x1] for index, cell in enumerate(over)}
    for x0, x1 in columns:
        nearest = min(range(len(over)), key=lambda i: abs(centres[i] - (x0 + x1) / 2))
        if spanning[nearest] and not any(c.x0 < x1 and c.x1 > x0 for c in over):
            reach[nearest] = [min(reach[nearest][0], x0), max(reach[nearest][1], x1)]
    moved = {id(cell): replace(cell, x0=reach[i][0], x1=reach[i][1]) for i, cell in enumerate(over)}
    return [moved.get(id(cell), cell) for cell in row]


def _label_only(row: Sequence[Printed], columns: Sequence[tuple[float, float]]) -> bool:
    return len(row) == 1 and not parse_number(row[0].text) and row[0].x0 < columns[0][0]


def _join_wrapped(rows: Sequence[list[Printed]], columns: Sequence[tuple[float, float]]) -> list[list[Printed]]:
    """Join the lines of a wrapped label; its numbers stand on its first, its last or a middle line."""
    joined: list[list[Printed]] = []
    for row in rows:
        if joined and _continues(joined[-1], row, columns):
            before = joined.pop()
            label = before[0].joined(row[0], " ") if _has_label(row, columns) else before[0]
            numbers = [*before[1:], *(row[1:] if _has_label(row, columns) else row)]
            joined.append([label, *numbers])
        else:
            joined.append(row)
    return joined


def _has_label(row: Sequence[Printed], columns: Sequence[tuple[float, float]]) -> bool:
    return row[0].x0 < columns[0][0] - 1 and not (parse_number(row[0].text) and row[0].x1 > columns[0][0])


def _continues(before: Sequence[Printed], row: Sequence[Printed], columns: Sequence[tuple[float, float]]) -> bool:
    upper, lower = before[0], row[0]
    if upper.box is None or lower.box is None or not _has_label(before, columns):
        return False
    height = lower.box[3] - lower.box[1]
    spacing = lower.box[1] - upper.box[3]
    open_ended = _OPEN_ENDED.search(upper.text) is not None
    if spacing > (1.2 if open_ended else 0.6) * height or upper.text.endswith((":", ".")):
        return False
    if not _has_label(row, columns):  # numbers alone: they belong to the label just above, if that has none
        return len(before) == 1 and spacing < 0.35 * height
    if len(before) > 1:
        return len(row) == 1 and re.match(r"[a-z(]", lower.text) is not None and not re.match(r"\([a-z0-9]\)", lower.text)
    if upper.text.isupper() and not lower.text.isupper():
        return False
    goes_on = _LABEL_GOES_ON.match(lower.text) is not None and not is_year(lower.text)
    full = upper.x1 > columns[0][0] - 0.22 * max(columns[0][0] - upper.x0, 1.0) and lower.x0 >= upper.x0
    return goes_on or open_ended or (full and len(row) > 1 and lower.x0 > upper.x0 + 2)


def _take_wrapped_first_label(heads: list[list[Printed]], body: list[list[Printed]],
                              columns: Sequence[tuple[float, float]]) -> tuple[list[list[Printed]], list[list[Printed]]]:
    """The first data row's label may have begun on the line above it."""
    if heads and _label_only(heads[-1], columns) and not _PERIOD.search(heads[-1][0].text):
        merged = _join_wrapped([heads[-1], body[0]], columns)
        if len(merged) == 1:
            return heads[:-1], [merged[0], *body[1:]]
    return heads, body

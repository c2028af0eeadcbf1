"""The tables of a PDF page as Grids, from the positions of its words.

A PDF has no tables. Prose and new headings cut its lines (pdf_lines.py) into blocks. In a block, number columns are the
intervals that the figures of all rows cover, so neighboring columns do not merge. A wrapped label is joined with the
line that holds its figures. PyMuPDF is not thread-safe: use processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, takewhile

import pymupdf

from finray.core.vocabulary import MONTH
from finray.filings.cells import Printed, arrange, data_cells, is_year, number_columns, parse_number
from finray.filings.grids import Grid, caption_of
from finray.filings.pdf_lines import PositionedWord, rows_of_words

PROSE_SHARE = 0.6
"""A sentence wider than this share of the page's text is prose, not a label."""

_PERIOD = re.compile(
    rf"\b(?:{MONTH}|ended|ending|months?|weeks|years?|quarters?|fiscal|as of|restated|unaudited|audited)\b|"
    r"\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_SPANNING = re.compile(r"\b(?:ended|ending|months|weeks|years?|quarters?|as of|at)\b|,$", re.IGNORECASE)
_LABEL_CONTINUES = re.compile(r"^(?:[a-z($]|\d)")
_OPEN_ENDED = re.compile(
    r"(?:\b(?:and|or|of|to|in|from|for|by|the|on|at|with|before|after|per|less|including|excluding|than|as|"
    r"attributable)|,|—|–|-|\()$",
    re.IGNORECASE,
)
_NOTE_LINE = re.compile(r"\([a-z0-9]\)")

Columns = Sequence[tuple[float, float]]


def page_grids(page: pymupdf.Page, number: int, read: Sequence[PositionedWord] | None = None) -> list[Grid]:
    """The tables on ``page``, top to bottom. ``number`` is its 0-based page number; boxes are in PDF points. ``read``
    are words from OCR, used instead of the page's own."""
    return grids_of_words(_words(page, read), number)


def grids_of_words(words: Sequence[PositionedWord], number: int) -> list[Grid]:
    """The tables on a page with these ``words``, top to bottom."""
    rows = rows_of_words(words)
    if not rows:
        return []
    width = max(cell.x1 for cell in chain(*rows)) - min(cell.x0 for cell in chain(*rows))
    return [grid for above, block in _tables(rows, width) if (grid := _grid(block, number, above))]


def _words(page: pymupdf.Page, read: Sequence[PositionedWord] | None) -> list[PositionedWord]:
    own = page.get_text("words", sort=False) if read is None else read  # type: ignore[no-untyped-call]
    found = [word[:5] for word in own]
    if not page.rotation:
        return found
    turned = [(pymupdf.Rect(*word[:4]) * page.rotation_matrix, word[4]) for word in found]  # type: ignore[no-untyped-call]
    return [(box.x0, box.y0, box.x1, box.y1, text) for box, text in turned]


def _tables(rows: Sequence[list[Printed]], width: float) -> Iterator[tuple[list[str], list[list[Printed]]]]:
    """The blocks between lines of prose, each with the prose above it. A heading with periods that follows figures also
    starts a new block."""
    above: list[str] = []
    block: list[list[Printed]] = []
    has_data = False
    for row in rows:
        data = bool(data_cells(row))
        prose = (
            len(row) == 1
            and not data
            and row[0].x1 - row[0].x0 > PROSE_SHARE * width
            and len(row[0].text) > 60
            and not row[0].text.endswith(":")
            and row[0].text.endswith(".")
        )
        new_heading = has_data and not data and _is_heading(row)
        if prose or new_heading:
            header = _trailing_heading(block) if new_heading else []
            if has_data:
                yield above, block[: len(block) - len(header)]
                above = []
            block, has_data = header, False
        if prose:
            above.append(row[0].text)
        else:
            block.append(row)
        has_data = has_data or data
    if has_data:
        yield above, block


def _is_heading(row: Sequence[Printed]) -> bool:
    """A row of two or more periods, such as "2022 2021" or "June 30, 2022  December 31, 2021"."""
    cells = row if _PERIOD.search(row[0].text) else row[1:]
    return (
        len(cells) >= 2
        and all(_PERIOD.search(cell.text) or cell.text == "$" for cell in cells)
        and any(re.search(r"\b(?:19|20)\d\d\b|ended|months|weeks", cell.text, re.IGNORECASE) for cell in cells)
    )


def _trailing_heading(block: list[list[Printed]]) -> list[list[Printed]]:
    """The rows without figures at the block's end, which belong to the next table."""
    start = len(block)
    while start > 0 and not data_cells(block[start - 1]) and len(block) - start < 8:
        start -= 1
    return block[start:]


def _grid(rows: Sequence[list[Printed]], number: int, above: Sequence[str]) -> Grid | None:
    columns = number_columns(rows)
    if not columns:
        return None
    above_headings = takewhile(lambda index: len(rows[index]) == 1, range(_first_data(rows)))
    prose = [index for index in above_headings if _is_prose(rows[index], rows)]
    if prose:  # a sentence that ends in a colon introduces the table
        above = [*above, *(row[0].text for row in rows[: prose[-1] + 1])]
        rows = rows[prose[-1] + 1 :]
    first = _first_data(rows)
    above = [*above, *(row[0].text for row in rows[:first] if len(row) == 1)]
    heads = [_stretch(row, columns) for row in rows[:first]]
    body = _join_wrapped([_split_label(row, columns) for row in rows[first:]], columns)
    if first and body:
        heads, body = _take_wrapped_first_label(heads, body, columns)
    return arrange(number, [*heads, *body], columns, caption_of(above))


def _first_data(rows: Sequence[list[Printed]]) -> int:
    return next(index for index, row in enumerate(rows) if data_cells(row))


def _is_prose(row: Sequence[Printed], rows: Sequence[Sequence[Printed]]) -> bool:
    width = max(cell.x1 for cell in chain(*rows)) - min(cell.x0 for cell in chain(*rows))
    text = row[0].text
    return (
        len(row) == 1
        and len(text) > 60
        and row[0].x1 - row[0].x0 > PROSE_SHARE * width
        and sum(word[:1].islower() for word in text.split()) > 5
    )


def _split_label(row: list[Printed], columns: Columns) -> list[Printed]:
    """Joins the text cells left of the first number column into one label."""
    label = [cell for cell in row if cell.x1 <= columns[0][0] + 1 and not parse_number(cell.text)]
    if len(label) < 2 or row[: len(label)] != label:
        return row
    joined = label[0]
    for cell in label[1:]:
        joined = joined.joined(cell, " ")
    return [joined, *row[len(label) :]]


def _stretch(row: list[Printed], columns: Columns) -> list[Printed]:
    """Widens headings, which are centered over their columns, to the columns nearest to them."""
    over = [
        cell
        for cell in row
        if cell.x1 > columns[0][0] - 2 and (cell.x0 >= columns[0][0] - 40 or len(row) == 1 or cell is not row[0])
    ]
    if not over:
        return row
    spanning = [bool(_SPANNING.search(cell.text)) and not is_year(cell.text[-4:]) for cell in over]
    centers = [(cell.x0 + cell.x1) / 2 for cell in over]
    reach = {index: [cell.x0, cell.x1] for index, cell in enumerate(over)}
    for x0, x1 in columns:
        nearest = min(range(len(over)), key=lambda i: abs(centers[i] - (x0 + x1) / 2))
        if spanning[nearest] and not any(c.x0 < x1 and c.x1 > x0 for c in over):
            reach[nearest] = [min(reach[nearest][0], x0), max(reach[nearest][1], x1)]
    moved = {id(cell): replace(cell, x0=reach[i][0], x1=reach[i][1]) for i, cell in enumerate(over)}
    return [moved.get(id(cell), cell) for cell in row]


def _label_only(row: Sequence[Printed], columns: Columns) -> bool:
    return len(row) == 1 and not parse_number(row[0].text) and row[0].x0 < columns[0][0]


def _join_wrapped(rows: Sequence[list[Printed]], columns: Columns) -> list[list[Printed]]:
    """Joins the lines of a wrapped label; its numbers may stand on any of them."""
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


def _has_label(row: Sequence[Printed], columns: Columns) -> bool:
    return row[0].x0 < columns[0][0] - 1 and not (parse_number(row[0].text) and row[0].x1 > columns[0][0])


def _continues(before: Sequence[Printed], row: Sequence[Printed], columns: Columns) -> bool:
    upper, lower = before[0], row[0]
    if upper.box is None or lower.box is None or not _has_label(before, columns):
        return False
    height = lower.box[3] - lower.box[1]
    spacing = lower.box[1] - upper.box[3]
    open_ended = _OPEN_ENDED.search(upper.text) is not None
    if spacing > (1.2 if open_ended else 0.6) * height or upper.text.endswith((":", ".")):
        return False
    if not _has_label(row, columns):  # numbers alone belong to the label just above if it has none
        return len(before) == 1 and spacing < 0.35 * height
    if len(before) > 1:
        return len(row) == 1 and re.match(r"[a-z(]", lower.text) is not None and not _NOTE_LINE.match(lower.text)
    if upper.text.isupper() and not lower.text.isupper():
        return False
    continues = _LABEL_CONTINUES.match(lower.text) is not None and not is_year(lower.text)
    full = upper.x1 > columns[0][0] - 0.22 * max(columns[0][0] - upper.x0, 1.0) and lower.x0 >= upper.x0
    return continues or open_ended or (full and len(row) > 1 and lower.x0 > upper.x0 + 2)


def _take_wrapped_first_label(
    heads: list[list[Printed]], body: list[list[Printed]], columns: Columns
) -> tuple[list[list[Printed]], list[list[Printed]]]:
    """Joins the last heading line with the first data row if that row's label begins there."""
    if heads and _label_only(heads[-1], columns) and not _PERIOD.search(heads[-1][0].text):
        merged = _join_wrapped([heads[-1], body[0]], columns)
        if len(merged) == 1:
            return heads[:-1], [merged[0], *body[1:]]
    return heads, body

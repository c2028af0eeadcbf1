"""The tables of a PDF page as Grids, from the positions of its words.

A PDF has no tables. Prose and new headings cut its lines (``lines``) into blocks. The number columns of a block are the
intervals that the figures of its rows cover, so neighboring columns do not merge. A wrapped label is joined with the
line that has its figures. PyMuPDF is not thread-safe: use processes.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, pairwise, takewhile
from statistics import median

import pymupdf

from finray.core.vocabulary import MONTH, SCALE
from finray.filings.pdf.column_groups import OVERHANG, Columns, aligned, leaves, spread_headings
from finray.filings.pdf.lines import GAP, PositionedWord, rows_of_words
from finray.filings.pdf.marks import cleaned
from finray.filings.pdf.text import upright
from finray.filings.tables.cells import Printed, arrange, data_cells, is_term, is_year, number_columns, parse_number
from finray.filings.tables.grids import Grid, caption_of
from finray.filings.tables.note_columns import without_references
from finray.filings.tables.number_styles import in_us_style

LABEL_SHARE = 0.35
"""A year left of this share of the page's text heads rows, not columns."""
FLUSH = 3.0
"""Points by which a heading may miss the right edge of its figures."""
PROSE_SHARE = 0.6
"""A sentence wider than this share of the page's text is prose, not a label."""

_PERIOD = re.compile(
    rf"\b(?:{MONTH}|ended|ending|months?|weeks|years?|quarters?|fiscal|as of|restated|unaudited|audited|"
    r"(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_HEADS = re.compile(r"\b(?:19|20)\d\d\b|ended|months|weeks", re.IGNORECASE)
_BEGINS_YEAR = re.compile(r"(?:19|20)\d\d(?! ?[-–—/])")
SHORT_HEADING = 30
"""Characters; a longer text beside years is not a heading of one column."""
_SPANNING = re.compile(
    rf"\b(?:ended|ending|months|weeks|years?|quarters?|as of)\b|^at\b|,$|\(in {SCALE}s\)$", re.IGNORECASE
)
_LABEL_CONTINUES = re.compile(r"^(?:[a-z($]|\d)")
_OPEN_ENDED = re.compile(
    r"(?:\b(?:and|or|of|to|in|from|for|by|the|on|at|with|before|after|per|less|including|excluding|than|as|"
    r"attributable)|,|—|–|-|\()$",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(r"\b(?:Inc|Corp|Co|Ltd|L\.P|U\.S|No)\.$")
_LONGEST_END = 16
"""Characters at the end of a label that ``_OPEN_ENDED`` may match."""
_INTRODUCTION = re.compile(r"\b(?:following|follows?|below|summari[sz]\w*|was|were|are)\b[^:]{0,200}:$", re.IGNORECASE)
LOWERED = 0.5
"""Least share of a line's height by which it overlaps the line above it in the same row."""
MIN_TEXTS = 2
"""Rows that share the edge of a column of texts."""
MOST_NAME = 36
"""Characters; the lines of a column of prose are longer than most names."""
_NAME = re.compile(r"[^\W\d_]{3}")
"""In a label, but not in a bullet or the mark of a footnote."""
MAX_COMPARED = 60
"""Rows compared on each side of a heading; the limit bounds the time."""
_DAY = re.compile(r"\d{1,2}, (?:19|20)\d\d\b")
"""Ends a date whose month is on the line above."""
_NOTE_LINE = re.compile(r"\([a-z0-9]\)")


def page_grids(page: pymupdf.Page, number: int) -> list[Grid]:
    """The tables on ``page``, top to bottom. ``number`` is its 0-based page number; boxes are in PDF points."""
    layout = page.get_textpage(flags=pymupdf.TEXTFLAGS_TEXT)
    _, words = cleaned(layout, layout.extractText(), layout.extractWORDS())  # type: ignore[no-untyped-call]
    return grids_of_words(upright(page, words or ()), number)


def grids_of_words(words: Sequence[PositionedWord], number: int) -> list[Grid]:
    """The tables on an upright page with these ``words``, top to bottom."""
    rows = in_us_style(rows_of_words(words))
    if not rows:
        return []
    left = min(cell.x0 for cell in chain(*rows))
    width = max(cell.x1 for cell in chain(*rows)) - left
    found = (
        _grid(part, number, [] if index else above)
        for above, block in _tables(rows, left, width)
        for index, part in enumerate(_parts(block))
    )
    return [grid for grid in found if grid is not None]


def _tables(
    rows: Sequence[list[Printed]], left: float, width: float
) -> Iterator[tuple[list[str], list[list[Printed]]]]:
    """The blocks between lines of prose, each with the prose above it. A heading with periods below figures also starts
    a new block."""
    above: list[str] = []
    block: list[list[Printed]] = []
    has_data, last = False, float("inf")
    for row in rows:
        figures = data_cells(row)
        data = bool(figures)
        prose = not data and _is_sentence(row, width, last)
        same_title = has_data and _is_centered_year(row, left, width)
        new_heading = same_title or (has_data and not data and (_is_heading(row) or _introduces(row)))
        if prose or new_heading:
            header = _trailing_heading(block) if new_heading else []
            if has_data:
                yield above, block[: len(block) - len(header)]
                above = [*above, *(text for text in _titles(block) if not is_year(text))] if same_title else []
            block, has_data = header, False
        if prose:
            above.append(" ".join(cell.text for cell in row))
        else:
            block.append(row)
        has_data, last = has_data or data, figures[-1].x1 if len(row) > 1 and data else last
    if has_data:
        yield above, block


def _is_sentence(row: Sequence[Printed], width: float, last: float) -> bool:
    """Whether a row is a line of prose: as wide as most of the page's text, or as far to the right as the figures above
    it, which end at ``last``. The mark of a footnote may stand apart from it."""
    text = row[-1].text
    if len(text) <= 60 or len(row) > 2 or (len(row) == 2 and not _NOTE_LINE.fullmatch(row[0].text)):
        return False
    if row[-1].x1 > last - FLUSH or (text.endswith(".") and last < float("inf")):
        return sum(word[:1].islower() for word in text.split()) > 5
    return text.endswith(".") and row[-1].x1 - row[-1].x0 > PROSE_SHARE * width


def _is_heading(row: Sequence[Printed]) -> bool:
    """Whether a row names two or more periods, such as "2022 2021" or "June 30, 2022  December 31, 2021". Behind years,
    short headings such as "% Change" may follow."""
    if len(row) < 2:
        return False
    cells = row if _PERIOD.search(row[0].text) else row[1:]
    periods = [cell for cell in cells if _PERIOD.search(cell.text)]
    if len(periods) < 2 or not any(_HEADS.search(cell.text) for cell in periods):
        return False
    others = len(cells) - len(periods) - sum(cell.text == "$" for cell in cells)
    return not others or (
        sum(_BEGINS_YEAR.match(cell.text) is not None for cell in row) >= 2
        and all(len(cell.text) <= SHORT_HEADING for cell in row[1:])
    )


def _is_centered_year(row: Sequence[Printed], left: float, width: float) -> bool:
    """Whether a row is the year over the columns of another table."""
    return len(row) == 1 and is_year(row[0].text) and row[0].x0 > left + LABEL_SHARE * width


def _introduces(row: Sequence[Printed]) -> bool:
    """Whether a row is the sentence above another table."""
    return len(row) == 1 and len(row[0].text) > 40 and _INTRODUCTION.search(row[0].text) is not None


def _parts(block: list[list[Printed]]) -> Iterator[list[list[Printed]]]:
    """The tables of a block. A table ends above a heading if the columns below it do not fit those above."""
    has_data = [bool(data_cells(row)) for row in block]
    runs = [list(run) for data, run in groupby(range(len(block)), key=has_data.__getitem__) if data]
    begin = 0
    for above, below in pairwise(runs):
        gap = block[above[-1] + 1 : below[0]]
        upper = block[max(begin, above[-1] - MAX_COMPARED) : above[-1] + 1]
        lower = [block[index] for index in below[:MAX_COMPARED]]
        if any(_heads_columns(row, block[below[0]]) for row in gap) and _collapse(upper, lower):
            yield block[begin : above[-1] + 1]
            begin = above[-1] + 1
    yield block[begin:]


def _heads_columns(row: Sequence[Printed], data: Sequence[Printed]) -> bool:
    return any(cell.x1 > data_cells(data)[0].x0 and cell.x0 > data[0].x0 for cell in row)


def _collapse(upper: Sequence[list[Printed]], lower: Sequence[list[Printed]]) -> bool:
    """Whether the columns of two tables would run together."""
    columns = max(len(number_columns(upper)), len(number_columns(lower)))
    return len(number_columns([*upper, *lower])) < columns


def _trailing_heading(block: list[list[Printed]]) -> list[list[Printed]]:
    """The rows without figures at the block's end, which belong to the next table."""
    start = len(block)
    while start > 0 and not data_cells(block[start - 1]) and len(block) - start < 8:
        start -= 1
    # The last line of a wrapped label is not a heading.
    wrapped = 0 < start < len(block) and _is_below(block[start - 1], block[start])
    return block[start + wrapped :]


def _grid(rows: list[list[Printed]], number: int, above: Sequence[str]) -> Grid | None:
    rows = [row for row in without_references(rows) if row]
    columns = number_columns(rows)
    if not columns:
        return None
    above_headings = takewhile(lambda index: len(rows[index]) == 1, range(_first_data(rows)))
    prose = [index for index in above_headings if _is_prose(rows[index], rows)]
    if prose:  # a sentence that ends in a colon introduces the table
        above = [*above, *(row[0].text for row in rows[: prose[-1] + 1])]
        rows = rows[prose[-1] + 1 :]
    first = _first_data(rows)
    above = [*above, *_titles(rows)]
    # A year on a line of its own, above the years of the other columns, heads its column.
    cells = [0 if any(is_year(cell.text) for cell in row) else len(row) for row in rows[:first]]
    rows = [*_over_first(rows[:first], rows[first:], columns), *rows[first:]]
    own = leaves(rows[:first], columns)
    heads = spread_headings(aligned(rows[:first], columns, own), columns)
    heads = [_stretch(row, columns, max(cells[index + 1 :], default=0), own) for index, row in enumerate(heads)]
    middle = (min(row[0].x0 for row in rows[first:]) + columns[-1][1]) / 2
    heads = [_aside(row, columns[0], middle) for row in heads]
    rows = [*rows[:first], *_spread_below(rows[first:], columns)]
    aside = _texts_aside(rows[first:], columns)
    body = _join_wrapped([_with_one_label(row, columns, aside) for row in rows[first:]], columns)
    if heads and body and (_is_label(heads[-1], columns) or _DAY.match(body[0][0].text)):
        both = _join_wrapped([heads[-1], body[0]], columns)
        if len(both) == 1:  # the first row's label begins above its figures
            heads, body = heads[:-1], [*both, *body[1:]]
    return arrange(number, [*heads, *body], columns, caption_of(above))


def _over_first(heads: Sequence[list[Printed]], body: Sequence[list[Printed]], columns: Columns) -> list[list[Printed]]:
    """``heads`` with texts between the labels and the first column moved over it: they are centered above figures that
    are flush right."""
    labels = max((cell.x1 for row in body for cell in _label_cells(row, columns)), default=float("inf"))
    x0, x1 = columns[0]
    return [
        [cell._replace(x0=x0, x1=x1) if len(row) > 1 and labels < cell.x0 < cell.x1 <= x0 else cell for cell in row]
        for row in heads
    ]


def _spread_below(rows: Sequence[list[Printed]], columns: Columns) -> list[list[Printed]]:
    """``rows`` with the second set of headings of a table spread over groups of columns, too."""
    runs = ((data, list(run)) for data, run in groupby(rows, key=lambda row: bool(data_cells(row))))
    return list(chain.from_iterable(run if data else spread_headings(run, columns) for data, run in runs))


def _titles(rows: Sequence[list[Printed]]) -> list[str]:
    """The lines of one cell above the first figures: titles, not headings of columns."""
    return [row[0].text for row in rows[: _first_data(rows)] if len(row) == 1]


def _first_data(rows: Sequence[list[Printed]]) -> int:
    return next(index for index, row in enumerate(rows) if data_cells(row))


def _is_prose(row: Sequence[Printed], rows: Sequence[Sequence[Printed]]) -> bool:
    text = row[0].text
    if len(row) > 1 or len(text) <= 60 or sum(word[:1].islower() for word in text.split()) <= 5:
        return False
    width = max(cell.x1 for cell in chain(*rows)) - min(cell.x0 for cell in chain(*rows))
    return row[0].x1 - row[0].x0 > PROSE_SHARE * width


def _label_cells(row: Sequence[Printed], columns: Columns) -> list[Printed]:
    """The texts that begin ``row``, left of the first number column."""
    texts = takewhile(lambda cell: cell.x1 <= columns[0][0] + 1, row)
    return list(takewhile(lambda cell: not parse_number(cell.text) or is_term(cell.text), texts))


def _texts_aside(rows: Sequence[list[Printed]], columns: Columns) -> frozenset[int]:
    """Left edges and middles of columns of texts between labels and figures ("Senior Notes", "July 2025"), in points;
    none if the labels need these texts to differ."""
    labels = [cells for row in rows if data_cells(row) and (cells := _label_cells(row, columns))]
    several = [cells for cells in labels if len(cells) > 1 and _NAME.search(cells[0].text)]
    names = Counter(cells[0].text for cells in labels)
    if len(several) < MIN_TEXTS or any(names[cells[0].text] > 1 for cells in several):
        return frozenset()
    if median([len(cells[0].text) for cells in several]) > MOST_NAME:
        return frozenset()  # a column of prose beside the table
    edges = Counter(edge for cells in several for before, cell in pairwise(cells) for edge in _edges(before, cell))
    return frozenset(edge for edge, count in edges.items() if count >= MIN_TEXTS)


def _edges(before: Printed, cell: Printed) -> set[int]:
    """The left edge and the middle of ``cell``; none if the gap ``before`` it is a word space ("issuance of | $3")."""
    near = cell.box is not None and cell.x0 - before.x1 < GAP * (cell.box[3] - cell.box[1])
    return set() if near else {round(cell.x0), round((cell.x0 + cell.x1) / 2)}


def _with_one_label(row: list[Printed], columns: Columns, aside: frozenset[int]) -> list[Printed]:
    """``row`` with the texts left of the first number column joined into one label, without those ``aside``."""
    label = _label_cells(row, columns)
    if len(label) < 2:
        return row
    joined = label[0]
    named = aside and _NAME.search(joined.text) and data_cells(row)
    for before, cell in pairwise(label):
        if not (named and aside & _edges(before, cell)):
            joined = joined.joined(cell, " ")
    return [joined, *row[len(label) :]]


def _stretch(row: list[Printed], columns: Columns, below: int, own: Sequence[Printed]) -> list[Printed]:
    """``row`` with its headings, which are centered over their columns, widened to the columns nearest to them.
    ``below`` is the number of cells of the widest row of headings below: at most half as many years head groups.
    ``own`` are the headings of single columns: one that is flush right with them, as a wrapped one is, stays there."""
    over = [
        cell
        for cell in row
        if cell.x1 > columns[0][0] - 2 and (cell.x0 >= columns[0][0] - OVERHANG or len(row) == 1 or cell is not row[0])
    ]
    if not over:
        return row
    groups = all(is_year(cell.text) for cell in over) and below >= 2 * len(over)
    spanning = [
        groups or (bool(_SPANNING.search(cell.text)) and not is_year(cell.text[-4:]) and not _wraps(cell, own))
        for cell in over
    ]
    centers = [(cell.x0 + cell.x1) / 2 for cell in over]
    reach = {index: [cell.x0, cell.x1] for index, cell in enumerate(over)}
    for x0, x1 in columns:
        nearest = min(range(len(over)), key=lambda i: abs(centers[i] - (x0 + x1) / 2))
        if spanning[nearest] and not any(c.x0 < x1 and c.x1 > x0 for c in over):
            reach[nearest] = [min(reach[nearest][0], x0), max(reach[nearest][1], x1)]
    moved = {id(cell): cell._replace(x0=reach[i][0], x1=reach[i][1]) for i, cell in enumerate(over)}
    return [moved.get(id(cell), cell) for cell in row]


def _wraps(cell: Printed, own: Sequence[Printed]) -> bool:
    """Whether ``cell`` is the upper line of one of the headings ``own``: flush right with it, not centered."""
    return any(
        abs(cell.x1 - leaf.x1) < 0.5 * FLUSH and abs(cell.x0 - leaf.x0) > 2 * FLUSH and cell.box != leaf.box
        for leaf in own
    )


def _aside(row: list[Printed], first: tuple[float, float], middle: float) -> list[Printed]:
    """``row`` with a title that is centered over the table (``middle``) cut off before the ``first`` column."""
    title = row[0]
    off_table, off_first = (abs((title.x0 + title.x1) / 2 - center) for center in (middle, sum(first) / 2))
    heads_first = off_first <= off_table or (abs(title.x1 - first[1]) < FLUSH and off_table > 2 * FLUSH)
    if len(row) > 1 or heads_first or _PERIOD.search(title.text) or (title.x0 >= first[0] and off_table > FLUSH):
        return row
    return [title._replace(x0=min(title.x0, first[0] - 1), x1=min(title.x1, first[0]))]


def _is_label(row: Sequence[Printed], columns: Columns) -> bool:
    text = row[0].text
    return len(row) == 1 and not parse_number(text) and row[0].x0 < columns[0][0] and not _PERIOD.search(text)


def _join_wrapped(rows: Sequence[list[Printed]], columns: Columns) -> list[list[Printed]]:
    """``rows`` with the lines of each wrapped label joined; its numbers may stand on any of them."""
    joined: list[list[Printed]] = []
    for row in rows:
        if joined and _beside(joined[-1], row, columns):
            joined[-1] = sorted([*joined[-1], *row], key=lambda cell: cell.x0)
        elif not joined or not _continues(joined[-1], row, columns):
            joined.append(row)
        elif _has_label(row, columns):
            label, *numbers = joined[-1]
            joined[-1] = [label.joined(row[0], " "), *numbers, *row[1:]]
        else:
            joined[-1] = [*joined[-1], *row]
    return joined


def _is_below(before: Sequence[Printed], row: Sequence[Printed]) -> bool:
    """Whether ``row`` is the rest of the label of the figures ``before`` it."""
    upper, lower = before[0], row[0]
    if len(row) > 1 or lower.x0 >= upper.x1 or upper.box is None or lower.box is None:
        return False
    near = lower.box[1] - upper.box[3] <= 0.6 * (lower.box[3] - lower.box[1])
    return near and re.match(r"[a-z(]", lower.text) is not None and not _NOTE_LINE.match(lower.text)


def _beside(before: Sequence[Printed], row: Sequence[Printed], columns: Columns) -> bool:
    """Whether two lines are one row whose label, or a figure, is set a little lower than the others."""
    upper, lower = before[-1].box, row[0].box
    if upper is None or lower is None or lower[1] > upper[3] - LOWERED * (lower[3] - lower[1]):
        return False
    if _has_label(before, columns) == _has_label(row, columns):
        return False
    return all(cell.x1 <= other.x0 or other.x1 <= cell.x0 for cell in before for other in row)


def _has_label(row: Sequence[Printed], columns: Columns) -> bool:
    return row[0].x0 < columns[0][0] - 1 and not (parse_number(row[0].text) and row[0].x1 > columns[0][0])


def _continues(before: Sequence[Printed], row: Sequence[Printed], columns: Columns) -> bool:
    upper, lower = before[0], row[0]
    if upper.box is None or lower.box is None or not _has_label(before, columns):
        return False
    height = lower.box[3] - lower.box[1]
    spacing = lower.box[1] - upper.box[3]
    if spacing > 1.2 * height or (
        upper.text.endswith((":", ".")) and not _ABBREVIATED.search(upper.text[-_LONGEST_END:])
    ):
        return False
    open_ended = _OPEN_ENDED.search(upper.text, max(0, len(upper.text) - _LONGEST_END)) is not None
    if spacing > 0.6 * height and not open_ended:
        return False
    if not _has_label(row, columns):  # numbers alone belong to the label just above if it has none
        return len(before) == 1 and spacing < 0.35 * height
    if len(before) > 1:
        return _is_below(before, row)
    if upper.text.isupper() and not lower.text.isupper():
        return False
    continues = _LABEL_CONTINUES.match(lower.text) is not None and not is_year(lower.text)
    if continues or open_ended:
        return True
    first_word = (lower.x1 - lower.x0) * len(lower.text.split(" ")[0]) / len(lower.text)
    return len(row) > 1 and lower.x0 > upper.x0 + 2 and upper.x1 + first_word > columns[0][0] - FLUSH

"""Reads the numbers in table cells and arranges the cells of all rows in common columns.

Shared by the HTML and the PDF reader. A cell's position is an interval: column numbers in HTML, points in PDF.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from string import ascii_letters
from typing import NamedTuple, Self

from finray.core.vocabulary import any_of
from finray.filings.tables.grids import MAX_CELL_TEXT, MAX_LABEL, Box, Cell, Grid, Tag
from finray.filings.tables.marks import SIGNS

_SIGNS = {
    "USD": "$ US$ USD",
    "CAD": "C$ CA$",
    "AUD": "A$",
    "HKD": "HK$",
    "BRL": "R$",
    "TWD": "NT$",
    "SGD": "S$",
    "NZD": "NZ$",
    "MXN": "MX$ Ps. Ps.$",
    "ILS": "NIS ₪",
    "PHP": "₱",
    "RUB": "₽",
    "TRY": "₺",
    "EUR": "€ EUR",
    "GBP": "£ GBP",
    "JPY": "¥",
    "CNY": "RMB CNY",
    "CHF": "CHF",
    "INR": "₹ Rs. Rs",
    "KRW": "₩",
}
_CURRENCIES = {sign: code for code, signs in _SIGNS.items() for sign in signs.split()}
_CURRENCY = f"(?P<currency>{any_of(_CURRENCIES)})"
_DASHES = "-–—−‒―"
_THINGS = (
    r"(?:(?:metric )?tons|tonnes|lbs\.?|pounds|kilograms|kg|ounces|gallons|barrels|bushels|MWh?|GWh|MMBtus?|acres|"
    r"miles|(?:square|sq\.?) (?:feet|ft\.?|miles)|shares|units|employees|years?|months?)"
)
_MARK = rf"(?:\((?:[a-z]|\d{{1,2}})\)|\[(?:[a-z]|\d{{1,2}})\]|[{SIGNS}]{{1,3}}+)"
"""A footnote mark behind a number."""
_RATES = frozenset({"%", "bps", "pt", "pts", "pp"})
_HUNDREDTHS = frozenset({"bps", "¢"})
_NUMBER = re.compile(
    rf"(?P<lead>[(\[])?\s*{_CURRENCY}?\s*(?P<open>[(\[])?\s*(?P<minus>[{_DASHES}])?\s*(?:US\$|\$|€|£|¥)?\s*"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:['’]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    rf"(?P<behind>[{_DASHES}])?\s*(?P<suffix>%|¢|x|bps|pts?|pp|{_THINGS})?\s*(?P<close>[)\]])?\s*"
    rf"(?P<after>%|¢|bps|pts?|pp)?(?:\s*+,?\s*+{_MARK}){{0,4}}+\s*"
)
_TERM = re.compile(r"(\d{1,2}) (?:years?|months?)")
_SCALED = re.compile(r"\([^()]{0,40}\b(?:in|of|millions|thousands)\b[^()]{0,40}\)$", re.IGNORECASE)
_DASH = re.compile(rf"\(?\s*{_CURRENCY}?\s*\(?[{_DASHES}]{{1,3}}\)?\s*%?\)?")
_DIGIT = re.compile(r"\d")
_THOUSANDS = re.compile(r"[,'’]")
_YEAR = re.compile(rf"(?:19|20)\d\d(?:,? ?{_MARK}){{0,2}}")
_FOOTNOTE = re.compile(rf"\(?[a-z]\)|{_MARK}(?:,? ?{_MARK})++|\[[a-z]\]|[{SIGNS}]+")
_NUMBERED_NOTE = re.compile(r"\(\d{1,2}\)")
_MOVES = re.compile(
    r"\b(?:adjust|restate|correct|change|effect|increase|decrease|variance|eliminat|reclass)", re.IGNORECASE
)
MAX_CELL = 40
"""Characters; a longer cell is text even if it starts with a number."""
NEVER_FIRST = frozenset(ascii_letters) - {sign[0] for sign in _CURRENCIES}
"""Letters that begin neither a number nor a currency."""
_START, _END = itemgetter(0), itemgetter(1)
_LONGEST_FILLER = 4
_MARKS = frozenset(SIGNS)
"""A longer cell is a filler only if it begins with one of these."""
NOTE_GAP = 3
"""Largest gap between a year and its footnote mark, in points (PDF) or columns (HTML)."""
LABEL_ZONE = 0.4
"""Labels begin within this share of the space left of the first numeric column."""
MIN_COLUMN_SHARE = 0.12
"""Minimum number of filled rows of a numeric column, as a share of the fullest column's."""
MAX_NUMBER_COLUMNS = 100
"""No printed table has more. Bounds the time, since each cell is compared with the others of its row."""


class Number(NamedTuple):
    """The number in a cell.

    ``value`` is signed and unscaled: 12.5 for "12.5%", 0.25 for "25 bps" and "25¢". ``unit`` is "shares", or "pure" for
    other things and multiples ("29 tons", "7.2x").
    """

    value: float
    percent: bool = False
    currency: str | None = None
    dash: bool = False
    decimals: int = 0
    unit: str | None = None


def parse_number(text: str) -> Number | None:
    """The number in a cell; None for a label, a heading or "N/A". A lone dash and "nil" are zero."""
    return _parsed(text) if len(text) <= MAX_CELL else _parsed.__wrapped__(text)


@lru_cache(maxsize=32768)  # each cell is parsed several times
def _parsed(text: str) -> Number | None:
    text = text.strip()
    if text.lower() == "nil":
        return Number(0.0, dash=True)
    if not 0 < len(text) <= MAX_CELL or text[0] in NEVER_FIRST:
        return None
    if dash := _DASH.fullmatch(text):
        return Number(0.0, percent="%" in text, currency=_CURRENCIES.get(dash["currency"] or ""), dash=True)
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    digits = match["digits"]
    if (match["behind"] and _THOUSANDS.search(digits) is None) or ("[" in text[:3] and digits.isdecimal()):
        return None  # "2019-" is the beginning of a range, "[1]" a mark
    value = float(_THOUSANDS.sub("", digits))
    if match["open"] or match["lead"] or match["minus"] or match["behind"]:
        value = -value
    suffix = match["suffix"] or match["after"] or ""
    unit = None
    if suffix not in _RATES | {"", "¢"}:
        unit = "shares" if suffix == "shares" else "pure"
    return Number(
        value=value / 100 if suffix in _HUNDREDTHS else value,
        percent=suffix in _RATES,
        currency=_CURRENCIES.get(match["currency"] or ""),
        decimals=len(digits.partition(".")[2]),
        unit=unit,
    )


def is_year(text: str) -> bool:
    """Whether ``text`` is a year, with or without a footnote mark: "2021", "2021(a)"."""
    text = text.strip()
    return 4 <= len(text) <= 14 and text[0] in "12" and _YEAR.fullmatch(text) is not None


def is_term(text: str) -> bool:
    """Whether ``text`` is a whole number of years or months, which may also be a label or a heading: "5 years"."""
    return text.endswith(("years", "year", "months", "month")) and _TERM.fullmatch(text) is not None


def _are_headings(texts: Sequence[str]) -> bool:
    """Whether the terms of a row, such as "1 year | 3 years | 5 years", head columns: it has no label, or other
    texts but no figures, or the terms ascend from one year or over several columns."""
    terms = [int(match[1]) for text in texts if (match := _TERM.fullmatch(text))]
    if len(terms) < len(texts) - 1 or parse_number(texts[0]) or _SCALED.search(texts[0]):
        return all(parse_number(text) is None or is_term(text) for text in texts)
    return all(a < b for a, b in pairwise(terms)) and (len(terms) > 2 or (len(terms) > 1 and terms[0] == 1))


class Printed(NamedTuple):  # a tuple, since a long filing has 100,000 of them
    """A cell before its column is known: it covers ``[x0, x1)`` in table columns (HTML) or points (PDF)."""

    text: str
    x0: float
    x1: float
    box: Box | None = None
    indent: float = 0.0
    concept: str | None = None
    tag: Tag | None = None

    def joined(self, other: Self, glue: str = "") -> Self:
        """This cell and ``other``, to its right, as one."""
        box = self.box
        if box is not None and other.box is not None:
            (x0, y0, x1, y1), (a0, b0, a1, b1) = box, other.box
            box = (min(x0, a0), min(y0, b0), max(x1, a1), max(y1, b1))
        text = f"{self.text}{glue}{other.text}"[:MAX_CELL_TEXT]
        concept, tag = self.concept or other.concept, self.tag or other.tag
        return type(self)(text, min(self.x0, other.x0), max(self.x1, other.x1), box, self.indent, concept, tag)


def merge_fillers(cells: Sequence[Printed]) -> list[Printed]:
    """Join "$", "(", ")" and "%" in cells of their own to their number; drop footnote marks."""
    merged: list[Printed] = []
    pending: Printed | None = None
    for cell in cells:
        text = cell.text.strip()
        if pending is None and len(text) > _LONGEST_FILLER and text[0] not in _MARKS:
            merged.append(cell)
            continue
        if pending is not None:
            if parse_number(text.rstrip(")%") + (")" if "(" in text + pending.text else "")) or text in {"(", "$"}:
                cell = pending.joined(cell)._replace(indent=cell.indent)
                text = cell.text.strip()
            else:
                merged.append(pending)
            pending = None
        if text.upper() in _CURRENCIES or text in {"(", "$(", "$ (", "["}:
            pending = cell
        elif merged and _closes(merged[-1].text, text):
            merged[-1] = merged[-1].joined(cell)
        elif not _is_footnote(merged, cell):
            merged.append(cell)
    if pending is not None:
        merged.append(pending)
    return merged


def _is_footnote(before: Sequence[Printed], cell: Printed) -> bool:
    """Whether ``cell`` is the footnote mark of the number before it: "(a)", or "(1)" after a year in a heading."""
    if not before:
        return False
    text, gap = cell.text.strip(), cell.x0 - before[-1].x1
    if _FOOTNOTE.fullmatch(text):
        return gap <= 1 and parse_number(before[-1].text) is not None
    numbered = len(before) > 1 and _NUMBERED_NOTE.fullmatch(text) is not None
    return numbered and gap <= NOTE_GAP and is_year(before[-1].text)


def _closes(before: str, text: str) -> bool:
    """Whether ``text`` is the closing parenthesis or the unit of the cell ``before`` it."""
    if len(before) > MAX_LABEL:
        return False
    if text in {")", ")%", "%)"}:
        return before.count("(") > before.count(")")
    if text == "]":
        return before.count("[") > before.count("]")
    return text in {"%", "¢", "pts", "bps"} and parse_number(before) is not None


def number_columns(rows: Sequence[Sequence[Printed]]) -> list[tuple[float, float]]:
    """The intervals of the table's numeric columns, left to right.

    A column must fill a fair share of the rows; a page number, or a number inside a label ("500 authorized"), does not
    make one.
    """
    labeled = [row for row in rows if len(row) > 1]
    cells = sorted((cell for row in labeled or rows for cell in data_cells(row)), key=lambda c: (c.x0, c.x1))
    columns: list[list[Printed]] = []
    right = float("-inf")
    for cell in cells:
        if cell.x0 < right:
            columns[-1].append(cell)
        else:
            columns.append([cell])
        right = max(right, cell.x1)
    fullest = max(map(len, columns), default=0)
    found = [
        (column, (column[0].x0, max(cell.x1 for cell in column)))
        for column in columns
        if len(column) >= MIN_COLUMN_SHARE * fullest
    ]
    return [interval for column, interval in found if not _are_marks(column, rows) or _heads_moves(rows, *interval)]


def _heads_moves(rows: Sequence[Sequence[Printed]], x0: float, x1: float) -> bool:
    """Whether a heading over the interval says that its numbers in parentheses are amounts by which others move."""
    over = (cell for row in rows for cell in row if cell.x0 < x1 and cell.x1 > x0)
    return any(_MOVES.search(cell.text) for cell in over if len(cell.text) <= MAX_CELL)


def _are_marks(column: Sequence[Printed], rows: Sequence[Sequence[Printed]]) -> bool:
    """Whether a column has the numbers of footnotes, which ascend one by one, and not negative amounts."""
    if not all(_NUMBERED_NOTE.fullmatch(cell.text) for cell in column):
        return False
    kept = set(map(id, column))
    numbers = [int(cell.text[1:-1]) for row in rows for cell in row if id(cell) in kept]
    return all(b - a in (0, 1) for a, b in pairwise(numbers))


def data_cells(row: Sequence[Printed]) -> list[Printed]:
    """The numeric cells of a data row; empty for a heading row whose only numbers are years."""
    return [row[number] for number in figures_in(tuple([cell.text for cell in row]))]


@lru_cache(maxsize=4096)  # each row is asked about several times
def figures_in(texts: tuple[str, ...]) -> tuple[int, ...]:
    """The numbers of the numeric cells among the ``texts`` of a row; empty for a row of headings."""
    found = [number for number, text in enumerate(texts) if parse_number(text)]
    if found and found[0] == 0 and len(texts) > 1 and (len(found) == 1 or is_year(texts[0]) or is_term(texts[0])):
        del found[0]
    if found and is_term(texts[found[0]]) and _are_headings(texts):
        return ()
    if all(is_year(texts[number]) or not _DIGIT.search(texts[number]) for number in found):
        return ()
    return tuple(found)


def arrange(
    page: int, rows: Sequence[Sequence[Printed]], columns: Sequence[tuple[float, float]], caption: str = ""
) -> Grid | None:
    """The grid of ``rows`` over the numeric ``columns`` (1, 2, ...), None without data. Column 0 holds labels."""
    if not columns or len(columns) > MAX_NUMBER_COLUMNS:
        return None
    if not any(len(row) > 1 and data_cells(row) for row in rows):
        return None
    left = min(cell.x0 for row in rows for cell in row)
    labels_start_before = left + LABEL_ZONE * (columns[0][0] - left)
    filled = ([cell for cell in row if cell.text.strip()] for row in rows)
    placed = tuple(tuple([_place(cell, columns, labels_start_before) for cell in row]) for row in filled if row)
    return Grid(page, placed, caption)


def _place(cell: Printed, columns: Sequence[tuple[float, float]], labels_start_before: float) -> Cell:
    text = " ".join(cell.text.split())
    # Bisection works because columns are in order and do not overlap.
    first = bisect_right(columns, cell.x0, key=_END)
    last = bisect_left(columns, cell.x1, key=_START)
    covered: Sequence[int] = range(first + 1, last + 1)
    number = parse_number(cell.text)
    if number and len(covered) > 1 and not is_year(cell.text):
        overlaps = {i: min(cell.x1, columns[i - 1][1]) - max(cell.x0, columns[i - 1][0]) for i in covered}
        covered = [max(covered, key=lambda i: overlaps[i])]
    heads_rows = is_year(cell.text) and cell.x0 < labels_start_before and cell.x1 <= columns[0][0]
    if not covered and number and not heads_rows:
        covered = _nearest(cell, columns)
    if not covered and not number and cell.x0 >= columns[0][1]:
        covered = [bisect_left(columns, cell.x0, key=_START) + (cell.x0 >= columns[-1][1])]  # texts behind all figures
    # "December 31, 2022" is wider than its figures. What heads all columns is a title.
    heads_first = 0 < len(covered) < max(2, len(columns)) and covered[0] == 1 and cell.x0 > labels_start_before
    column, span = covered[0] if covered else 0, max(len(covered), 1)
    if not number and cell.x0 < columns[0][0] and not heads_first:  # a label, or a title over the whole table
        column, span = 0, 1 + (covered[-1] if covered else 0)
    return Cell(text, column, span, cell.box, cell.indent, cell.concept, cell.tag)


def _nearest(cell: Printed, columns: Sequence[tuple[float, float]]) -> list[int]:
    """The adjacent column, for a dash or short number just outside of its column's interval; empty if none is near."""
    right = bisect_left(columns, cell.x1, key=_START) + 1
    beside = [i for i in (right - 1, right) if 1 <= i <= len(columns)]
    distances = {i: max(columns[i - 1][0] - cell.x1, cell.x0 - columns[i - 1][1]) for i in beside}
    nearest = min(distances, key=lambda i: distances[i])
    width = columns[nearest - 1][1] - columns[nearest - 1][0]
    return [nearest] if distances[nearest] < 0.6 * width else []

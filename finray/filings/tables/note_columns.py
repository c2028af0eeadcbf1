"""Columns of references to the notes of the statements ("Note | 7 | 12(a)"), whose numbers are not figures."""

import re
from collections.abc import Iterator
from itertools import pairwise

from finray.core.vocabulary import MONTH
from finray.filings.tables.cells import MAX_CELL, Printed, data_cells, is_year, number_columns, parse_number

_HEAD = re.compile(
    r"\(?(?:(?:foot)?notes?(?: ?(?:no|nos|number|numbers|refs?|references?)\b\.?)?|refs?\.?|references?)\W{0,2}",
    re.IGNORECASE,
)
_GLUED = re.compile(
    rf"(?:notes?|refs?\.?)\s+(?=(?:{MONTH}|\d{{1,2}} {MONTH}|(?:as (?:of|at)|year) |(?:19|20)\d\d\b))", re.IGNORECASE
)
"""This heading with that of the next column."""
_BEGINS = frozenset("nNfFrR(")
"""First characters of such a heading."""
_SINGULAR = re.compile(r"\bnote\b|\bref", re.IGNORECASE)
_ONE = r"(?:notes? )?\d{1,2}(?:\.\d{1,2})?+(?: ?\([a-z]{1,3}\)|[a-z](?![a-z])){0,2}+"
_REFERENCE = re.compile(rf"\(?{_ONE}(?:(?:, ?|; ?|/| ?& ?| and | ?[-–] ?){_ONE}){{0,5}}+\)?", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,2}")
_GROUPS = re.compile(r"[\s.,'’]")
_FIGURE = re.compile(r"\d{1,3}(?:[\s.,'’]\d{3}){1,5}|\d{1,9}")
_TOTAL = re.compile(r"(?:sub)?totals?\b", re.IGNORECASE)
HEAD_ROWS = 20
"""Rows at the top of a table among which its headings are."""
MIN_REFERENCES = 4
"""Fewer small integers without a heading may be figures."""
_LARGER = 4
"""Amounts beside references are this many times as large, unless the heading is "Note"."""
_LARGE = 100
_IN_ORDER = 0.7
"""Minimum share of references that are not less than the one above."""

Rows = list[list[Printed]]


def without_references(rows: Rows) -> Rows:
    """``rows`` without columns of references to notes: those headed "Note" or "Ref.", and those without a heading in
    which small integers ascend beside large amounts."""
    rows = [*map(_parted, rows[:HEAD_ROWS]), *rows[HEAD_ROWS:]]
    for at, row in enumerate(rows[:HEAD_ROWS]):
        for number, cell in enumerate(row):
            if cell.text[:1] in _BEGINS and len(cell.text) <= MAX_CELL and _HEAD.fullmatch(cell.text.strip()):
                found = _headed(rows, at, cell)
                if found:
                    return _drop(rows, {(at, number)} | found)
    return _drop(rows, _unheaded(rows))


def _parted(row: list[Printed]) -> list[Printed]:
    """``row`` with the heading "Note" apart from that of the next column, if only a space parts them on the page."""
    for number, cell in enumerate(row):
        match = _GLUED.match(cell.text) if cell.text[:1] in _BEGINS and len(cell.text) <= MAX_CELL else None
        if match is not None and not any(parse_number(other.text) and not is_year(other.text) for other in row):
            middle = cell.x0 + (cell.x1 - cell.x0) * match.end() / len(cell.text)
            head, rest = cell.text[: match.end()].strip(), cell.text[match.end() :]
            parts = (cell._replace(text=head, x1=middle), cell._replace(text=rest, x0=middle))
            return [*row[:number], *parts, *row[number + 1 :]]
    return row


def _drop(rows: Rows, found: set[tuple[int, int]]) -> Rows:
    if not found:
        return rows
    return [[cell for number, cell in enumerate(row) if (at, number) not in found] for at, row in enumerate(rows)]


def _headed(rows: Rows, at: int, head: Printed) -> set[tuple[int, int]]:
    """The references below the heading ``head`` in row ``at``; empty if the column holds something else."""
    found: set[tuple[int, int]] = set()
    references: list[int] = []
    largest = 0.0
    for index, row in enumerate(rows[at + 1 :], at + 1):
        for number, cell in enumerate(row):
            if cell.x0 < head.x1 and head.x0 < cell.x1:
                if _is_reference(cell.text):
                    found.add((index, number))
                    references += map(int, _NUMBER.findall(cell.text))
                elif _figure(cell.text):
                    return set()
            else:
                largest = max(largest, _figure(cell.text))
    if not references or largest == 0.0:
        return set()
    small = _SINGULAR.search(head.text) is None and largest < _LARGER * max(references)
    return set() if small else found


def _unheaded(rows: Rows) -> set[tuple[int, int]]:
    """The references in the first column of numbers if it has no heading and the others have; empty if there are
    none."""
    second = (row[1].text for row in rows if len(row) > 2)
    if sum(len(text) <= 2 and text.isdecimal() for text in second) < MIN_REFERENCES - 1:
        return set()
    first = next((at for at, row in enumerate(rows) if len(row) > 2 and len(data_cells(row)) > 1), None)
    if not first:
        return set()
    if not all(map(_may_begin, _second_cells(rows[first:]))):
        return set()
    columns = number_columns(rows)
    if len(columns) < 2:
        return set()
    (x0, x1), (next_x0, _) = columns[:2]
    over = [cell for row in rows[:first] for cell in row if cell.x1 > x0]
    if any(cell.x0 < x1 and cell.x1 - cell.x0 < next_x0 - x0 for cell in over):
        return set()
    if not any(cell.x0 >= x1 for cell in over) or any(cell.x0 < x1 for cell in over):
        return set()
    found: set[tuple[int, int]] = set()
    references: list[int] = []
    for at, row in enumerate(rows[first:], first):
        for number, cell in enumerate(row):
            if not (cell.x0 < x1 and x0 < cell.x1) or number == 0:
                continue
            if not _is_reference(cell.text) or _TOTAL.match(row[0].text):
                return set()
            if max((_figure(other.text) for other in row[number + 1 :]), default=0.0) < _LARGE:
                return set()
            found.add((at, number))
            references.append(int(_NUMBER.findall(cell.text)[0]))
    ascending = sum(above <= below for above, below in pairwise(references))
    enough = len(references) >= MIN_REFERENCES and len(set(references)) > 2
    return found if enough and ascending >= _IN_ORDER * (len(references) - 1) else set()


def _second_cells(rows: Rows) -> Iterator[str]:
    """The first figure of each row: that of the column of references, or of the one behind it."""
    for row in rows:
        numbers = data_cells(row)
        if len(row) > 2 and len(numbers) > 1:
            yield numbers[0].text


def _may_begin(text: str) -> bool:
    return _is_reference(text) or _figure(text) >= _LARGE


def _is_reference(text: str) -> bool:
    return len(text) <= MAX_CELL and _REFERENCE.fullmatch(text.strip()) is not None


def _figure(text: str) -> float:
    """The size of the figure in a cell, whatever parts its thousands; 0 for a year or a text."""
    if len(text) > MAX_CELL or is_year(text):
        return 0.0
    if number := parse_number(text):
        return abs(number.value)
    text = text.strip("()[]-–—$€£ ")
    return float(_GROUPS.sub("", text)) if _FIGURE.fullmatch(text) else 0.0

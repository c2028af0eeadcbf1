"""Rows of figures: the cells of one printed row that differ only by their period.

A question names a *series* ("variable lease costs of the U.S. plans") and the periods that choose among its cells. A
column that is more than a period ("Level 1") is a series of its own. If the rows of a table are years ("2026", "2027":
what is due), its columns are the series.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from finray.answering.cells.page_cells import PageCell, measure_of
from finray.core.filing import LineItem
from finray.core.vocabulary import MONTH
from finray.filings.tables.period_headings import YEAR_RANGE
from finray.index.reading.facts import FilingFacts, kept_with

_NOT_LETTERS = re.compile(r"[\W\d_]+")
_PERIOD_WORDS = re.compile(
    r"\b(?:fiscal|years?|quarters?|months?|weeks?|ended|ending|first|second|third|fourth|three|six|nine|twelve|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|as of|at|for|the|in|millions?|thousands?|billions?)\b",
    re.I,
)
_DATE = re.compile(rf"\b{MONTH}\b\.? *\d{{0,2}}|\b(?:19|20)\d\d\b", re.I)
_OPENS_OR_CLOSES = re.compile(
    r"\b(?:as of|at)?(?: the)? ?(?:beginning|opening|start|ending|end|closing)\b"
    r"(?: of (?:the )?(?:fiscal )?(?:year|period|quarter))?",
    re.I,
)
_OWN_COLUMN = re.compile(r"\b(?:total|changes?|variance|increase|decrease|growth)\b")
_YEAR_ROW = re.compile(r"\W{0,3}(?:fiscal(?: year)? |years? |FY ?)?(?:19|20)\d\d(?: ?\([^()]{0,60}\))?\W{0,3}", re.I)
_MEASURES = {"money": "amount", "shares": "shares", "per share": "per share", "percent": "percent", None: "number"}
_CAPTION, _HEADING = 110, 70
"""Characters at the end of the caption, next to the table, and of the page's headings that the row model reads."""


@dataclass(frozen=True, slots=True)
class Series:
    """``cells`` in reading order, at least one. ``text`` describes the row without its figures and periods."""

    cells: tuple[PageCell, ...]
    text: str

    @property
    def first(self) -> PageCell:
        return self.cells[0]

    @property
    def table(self) -> tuple[str, int, str | None]:
        """Identifies the table; tables of one page that have the same caption count as one."""
        item = self.first.item
        return self.first.filing.filing_id, item.page, item.caption


def series_of(cells: Iterable[PageCell]) -> list[Series]:
    """The series of ``cells``, in reading order."""
    rows: dict[tuple[object, ...], list[PageCell]] = {}
    for cell in cells:
        item = cell.item
        row = _balance(cell) or _year(cell) or (*cell.row, item.label)
        key = (*row, item.section, measure_of(item))
        rows.setdefault(key, []).append(cell)
    parts = (part for own in rows.values() for column in _by_column(own) for part in _apart(column))
    return [Series(tuple(part), described(part)) for part in parts]


def numbered_series(cells: Sequence[PageCell], facts: FilingFacts) -> list[tuple[tuple[int, ...], Series]]:
    """The series of ``cells``, with the numbers of their cells. Those of a page are found once, and kept while the
    index keeps its filing in memory."""
    items = facts.line_items({cell.filing.filing_id for cell in cells})
    found: list[tuple[tuple[int, ...], Series]] = []
    start = 0
    for (filing_id, page), of_page in itertools.groupby(
        cells, key=lambda cell: (cell.filing.filing_id, cell.item.page)
    ):
        own = list(of_page)
        for numbers, text in kept_with(items[filing_id], _SeriesOfPages).on(page, own):
            found.append((tuple(start + at for at in numbers), Series(tuple(own[at] for at in numbers), text)))
        start += len(own)
    return found


class _SeriesOfPages:
    """The series of the pages of one filing that were read so far: the numbers of their cells on the page, and their
    texts."""

    def __init__(self, _items: Sequence[LineItem]) -> None:
        self._known: dict[int, tuple[tuple[LineItem, ...], list[tuple[list[int], str]]]] = {}

    def on(self, page: int, cells: Sequence[PageCell]) -> list[tuple[list[int], str]]:
        items = tuple(cell.item for cell in cells)
        known = self._known.get(page)
        if known is None or known[0] != items:
            number_of = {id(cell): number for number, cell in enumerate(cells)}
            series = [([number_of[id(cell)] for cell in each.cells], each.text) for each in series_of(cells)]
            known = self._known[page] = items, series
        return known[1]


def _by_column(cells: list[PageCell]) -> Iterable[list[PageCell]]:
    """``cells`` grouped by the heads of their columns, without periods. If each cell is of another period and some have
    no such head, the other heads are titles of the table that the parser took for heads: one group."""
    columns: dict[str, list[PageCell]] = {}
    for cell in cells:
        columns.setdefault(column_part(cell.item.column_label), []).append(cell)
    periods = {(cell.item.period_end, cell.item.months) for cell in cells if cell.item.period_end is not None}
    if "" in columns and len(periods) == len(cells) and not any(map(_OWN_COLUMN.search, columns)):
        return [cells]
    return columns.values()


def _balance(cell: PageCell) -> tuple[object, ...] | None:
    """A key that the opening and the closing balance of a table share; None for other rows."""
    item = cell.item
    if item.months != 0 or item.statement == "balance" or (label := undated(item.label)) is None:
        return None
    return cell.filing.filing_id, item.page, item.caption, label


@lru_cache(maxsize=8192)
def undated(label: str) -> str | None:
    """The words of a label without dates, "beginning of year" and the like; None if it has none of these."""
    words = _OPENS_OR_CLOSES.sub(" ", _DATE.sub(" ", label))
    return None if words == label else " ".join(re.findall(r"[a-z]+", words.lower()))


def _year(cell: PageCell) -> tuple[object, ...] | None:
    """A key that the years of a column share if years are the rows of a table; None for other rows."""
    item = cell.item
    if item.period_end is None or not _is_year(item.label):
        return None
    return cell.filing.filing_id, item.page, item.caption, item.column, item.column_label


def _apart(cells: list[PageCell]) -> Iterable[list[PageCell]]:
    """``cells`` grouped by the heads of their columns with figures ("over 1 to 5 years"), if several are of one
    period."""
    periods = {(c.item.period_end, c.item.months, tuple(YEAR_RANGE.findall(c.item.column_label or ""))) for c in cells}
    if len(periods) == len(cells):
        return [cells]
    if len({cell.row for cell in cells}) > 1:
        return _balances(cells)
    parts: dict[str, list[PageCell]] = {}
    for cell in cells:
        parts.setdefault(" ".join(_DATE.sub(" ", cell.item.column_label or "").lower().split()), []).append(cell)
    return parts.values()


def _balances(cells: list[PageCell]) -> Iterable[list[PageCell]]:
    """Opening and closing balances as one series, because a year's opening balance is the closing one of the year
    before; row by row if these differ, because the table then has several such pairs."""
    first: dict[object, PageCell] = {}
    for cell in cells:
        known = first.setdefault((cell.item.period_end, cell.item.column_label), cell)
        if known.item.value != cell.item.value:
            rows: dict[object, list[PageCell]] = {}
            for each in cells:
                rows.setdefault(each.row, []).append(each)
            return rows.values()
    return [list(first.values())]


def described(cells: Sequence[PageCell]) -> str:
    """The row as the row model reads it: "Variable lease costs | Lease cost | U.S. | amount | Note 18, Leases"."""
    item = cells[0].item
    labels = list(dict.fromkeys(cell.item.label for cell in cells if _is_year(cell.item.label)))
    parts = (
        f"{labels[0]} to {labels[-1]}" if len(labels) > 1 else item.label,
        item.section or "",
        item.column_label or "" if all(column_part(cell.item.column_label) for cell in cells) else "",
        _MEASURES[measure_of(item)],
        (item.statement or "").replace("_", " "),
        _tail(item.caption or "", _CAPTION),
        _tail(cells[0].headings, _HEADING),
    )
    return " | ".join(" ".join(part.split()) for part in parts if part)


@lru_cache(maxsize=8192)
def _is_year(label: str) -> bool:
    return _YEAR_ROW.fullmatch(label) is not None


@lru_cache(maxsize=8192)
def column_part(column_label: str | None) -> str:
    """The words of a column's head that name more than a period; "" if there are none."""
    return _NOT_LETTERS.sub(" ", _PERIOD_WORDS.sub(" ", column_label or "")).strip().lower()


def _tail(text: str, characters: int) -> str:
    """The last whole words of ``text``, at most this many characters."""
    text = " ".join(text.split())
    return text if len(text) <= characters else text[-characters:].partition(" ")[2]

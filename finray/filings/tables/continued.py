"""Recognizes the rest of a table at the top of the next page, which is printed without the heads of its columns."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from finray.core.filing import Statement
from finray.filings.tables.cells import is_year
from finray.filings.tables.columns import Columns
from finray.filings.tables.grids import Cell, Grid
from finray.filings.tables.periods import Calendar
from finray.filings.tables.rows import names_period, read_row
from finray.filings.tables.scales import Scale

_MOST_AFTER = 45
"""Words below the last table of a page, such as "See accompanying notes" and the number of the page."""
_MOST_ABOVE = 8
"""Lines above the rest of a table: a running head, and the title of the table."""
_LONG = 140
"""Characters; a longer line is prose."""
_CONTINUED = re.compile(r"\bcont(?:inued|['’]d|\.)|\(cont", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"[\W\d]*|(?:page |[a-z]-)?[\divxlc]{1,6}|table of contents|\(?unaudited\)?", re.IGNORECASE)
_FOUND = 40
"""Characters of a label by which its row is found in the text of the page."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The last table of a page, which may go on at the top of the next one."""

    statement: Statement | None
    columns: frozenset[int]
    headings: Mapping[int, str]
    scales: Mapping[int, Scale]
    scale: Scale
    calendar: Calendar
    head: frozenset[str]
    """Lines above the figures of its page, in lower case."""
    registrant: str | None

    @classmethod
    def of(cls, columns: Columns, grid: Grid, page_text: str, head: str, registrant: str | None) -> "Unfinished | None":
        """The table as read into ``columns``; None if text follows it on the page, or it has no heads."""
        if not columns.dated or not _ends(grid, page_text):
            return None
        return cls(
            columns.statement,
            _columns(grid),
            dict(columns.headings),
            dict(columns.scales),
            columns.scale,
            columns.calendar,
            frozenset(head.lower().split("\n")),
            registrant,
        )

    def goes_on(self, grid: Grid, page_text: str, title_of: Callable[[str], Statement | None]) -> bool:
        """Whether ``grid``, the first table of the next page, is the rest of this one.

        It has the same columns and no heads of its own, and only a running head or the table's title is above it.
        ``title_of`` is the statement that a line, in lower case, is the title of.
        """
        if _columns(grid) != self.columns or not self._has_no_heads(grid):
            return False
        above = _lines_above(grid, page_text)
        titles = {title_of(line.lower()) for line in above} - {None}
        if len(above) > _MOST_ABOVE or (titles and titles != {self.statement}):
            return False
        return all(self._may_precede(line, bool(titles)) for line in above)

    def columns_for(self, new: Columns) -> None:
        """Give the heads and scales of this table to ``new``, the columns of its rest."""
        new.headings, new.scales = dict(self.headings), dict(self.scales)

    def _has_no_heads(self, grid: Grid) -> bool:
        heads = list(takewhile(lambda cells: not _has_figures(cells), grid.rows))
        over = [cell.text for cells in heads for cell in cells if cell.column or cell.span > 1]
        return len(heads) < len(grid.rows) and not any(
            names_period(text) or not self._may_precede(text, True) for text in over
        )

    def _may_precede(self, line: str, titled: bool) -> bool:
        """Whether ``line`` may be above the rest of the table: it is short, and repeats the page before, says
        "continued", numbers the page, or comes with the statement's title."""
        if len(line) > _LONG:
            return False
        repeats = line.lower() in self.head or _PAGE_NUMBER.fullmatch(line) is not None
        return titled or repeats or _CONTINUED.search(line) is not None


def _has_figures(cells: Sequence[Cell]) -> bool:
    """Whether a row has numbers that are not years."""
    return any(not is_year(cell.text) for cell, _ in read_row(cells).numbers)


def _columns(grid: Grid) -> frozenset[int]:
    """The columns of the figures of ``grid``."""
    return frozenset(cell.column for cells in grid.rows for cell, _ in read_row(cells).numbers)


def _lines_above(grid: Grid, page_text: str) -> list[str]:
    """The lines of the page above the first row of ``grid`` with figures, without the headings inside of the table."""
    heads = [row[0].text for row in takewhile(lambda cells: not _has_figures(cells), grid.rows)]
    first = next((cells for cells in grid.rows if _has_figures(cells)), ())
    label = first[0].text[:_FOUND] if first else ""
    plain = (" ".join(line.split()) for line in page_text.split("\n"))
    lines = takewhile(lambda line: not line.startswith(label), filter(None, plain))
    return [line for line in lines if line not in heads or _CONTINUED.search(line)]


def _ends(grid: Grid, page_text: str) -> bool:
    """Whether little text follows ``grid`` on its page."""
    label = next((cells[0].text for cells in reversed(grid.rows) if _has_figures(cells)), "")
    plain = " ".join(page_text.split())
    at = plain.rfind(label[:_FOUND])
    after = re.findall(r"[^\W\d_]{2,}", plain[at + len(label) :]) if at >= 0 else []
    return at >= 0 and len(after) <= _MOST_AFTER

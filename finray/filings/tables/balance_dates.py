"""Dates the rows of a table without dated columns by its balances: "Balance at December 31, 2022"."""

import datetime as dt
import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache

from finray.core.tables import Row, Table
from finray.core.vocabulary import MONTHS
from finray.filings.dates import to_date
from finray.filings.tables.period_headings import MONTH_NAME, find_days

_BALANCE_OR_DATE = re.compile(rf"\bbalances?\b|\b(?:as of|at)\b|(?:^|[-–—,] ?){MONTH_NAME}", re.IGNORECASE)
"""Begins the date of a balance: "Balance, June 30", "Goodwill - December 28, 2019"."""


def dated_by_balances(tables: Sequence[Table], tagged: Collection[tuple[int, int]]) -> list[Table]:
    """``tables`` of one grid, each row dated by the next balance at or below it. Columns of equity statements are
    components, not periods.

    Cells at the ``tagged`` (row, column) keep their period.
    """
    figures = [row for table in tables for row in table.rows if row.label and row.cells]
    printed = {row.row: date for row in figures if (date := read_balance_date(row.label))}
    if not printed:
        return list(tables)
    days = {(date.month, date.day) for date in printed.values()}
    dates = {row: _close_of_day_before(date, days) for row, date in printed.items()}
    rows = sorted(dates)

    def dated(row: Row) -> Row:
        at = bisect_left(rows, row.row)
        if at == len(rows):
            return row
        end = dates[rows[at]]
        months: int | None = 0
        if rows[at] != row.row:
            months = _months_between(dates[rows[at - 1]], end) if at else None
        cells = (
            replace(cell, period_end=end, months=months)
            if cell.value is not None and (row.row, cell.column) not in tagged
            else cell
            for cell in row.cells
        )
        return replace(row, cells=tuple(cells))

    return [replace(table, rows=tuple(map(dated, table.rows))) for table in tables]


def _close_of_day_before(date: dt.date, days: Collection[tuple[int, int]]) -> dt.date:
    """``date``, or the day before: the balance "at January 1" is that of December 31.

    For other months the day before must be among ``days``, the (month, day) of the table's balances.
    """
    before = date - dt.timedelta(days=1)
    return before if date.day == 1 and ((before.month, before.day) in days or date.month == 1) else date


@lru_cache(maxsize=1024)  # called for each figure of a row
def read_balance_date(label: str) -> dt.date | None:
    """The date in a row such as "Balance at December 31, 2022"."""
    if not _BALANCE_OR_DATE.search(label):
        return None
    match = next((m for m in find_days(label) if m["day"] and m["year"]), None)
    return to_date(int(match["year"]), MONTHS[match["month"].lower()], int(match["day"])) if match else None


def _months_between(start: dt.date, end: dt.date) -> int | None:
    months = round((end - start).days / 30.4375)
    return months if months > 0 else None

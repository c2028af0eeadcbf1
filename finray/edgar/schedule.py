"""Decides which indexes a run reads, and up to which day everything is there.

* The daily index of each weekday of the range: once, and again for a few days, because filings come late.
* The quarterly index of each quarter of the range, once a week: it has corrections, additions and deletions. For past
  quarters it replaces the daily ones, one request for three months.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping

from finray.edgar.ledger import IndexRead, Ledger
from finray.edgar.listing import FIRST_QUARTER, Quarter, day_unit, quarter_unit
from finray.edgar.selection import Selection

_SATURDAY = 5
_PUBLISHED_AFTER = dt.timedelta(days=2)
"""EDGAR publishes the index of a day overnight, Eastern time. If it is missing after two days, it was a holiday."""


def due(
    selection: Selection, ledger: Ledger, now: dt.datetime, recheck_days: float, *, everything: bool
) -> list[Quarter | dt.date]:
    """Indexes to request in this run, quarters first; ``everything`` requests all of the range."""
    read = ledger.indexes(selection.key())
    recheck, today = dt.timedelta(days=recheck_days), now.date()
    quarters: list[Quarter] = []
    days: list[dt.date] = []
    for quarter in _quarters(selection):
        known = read.get(quarter_unit(quarter))
        settled = is_settled(quarter, now, recheck_days)
        first, last = span(selection, quarter)
        if everything or known is None or now - known.at >= recheck or (settled and not known.spans(first, last)):
            quarters.append(quarter)
        if not settled:
            days += [
                day
                for day in weekdays(first, min(last, today))
                if everything or day + recheck >= today or not _is_read(day, read)
            ]
    return [*quarters, *days]


def span(selection: Selection, quarter: Quarter) -> tuple[dt.date, dt.date]:
    """The first and last wanted day of a quarter."""
    return max(selection.since, quarter.first), min(selection.until, quarter.last)


def is_settled(quarter: Quarter, now: dt.datetime, recheck_days: float) -> bool:
    """Whether a quarter's daily indexes are no longer read, so that its own index must exist."""
    return quarter.last + dt.timedelta(days=recheck_days) < now.date()


def is_holiday(day: dt.date, now: dt.datetime) -> bool:
    """Whether a missing daily index will never be published."""
    return day + _PUBLISHED_AFTER <= now.date()


def incomplete_days(selection: Selection, ledger: Ledger, now: dt.datetime, give_up_after: int) -> list[dt.date]:
    """Days of the range up to today whose index was not read or that still lack a filing."""
    read = ledger.indexes(selection.key())
    last = min(selection.until, now.date())
    wanted = (entry for entry in ledger.entries() if selection.wants(entry.listed))
    lacking = {entry.listed.day for entry in wanted if entry.is_due(give_up_after)}
    unread = {day for day in weekdays(selection.since, last) if not _is_read(day, read)}
    return sorted(unread | {day for day in lacking if selection.since <= day <= last})


def watermark(selection: Selection, now: dt.datetime, incomplete: list[dt.date]) -> dt.date | None:
    """The last day before the first of the ``incomplete`` days; None if that is before the range."""
    last = incomplete[0] - dt.timedelta(days=1) if incomplete else min(selection.until, now.date())
    return last if last >= selection.since else None


def _is_read(day: dt.date, read: Mapping[str, IndexRead]) -> bool:
    if day_unit(day) in read:
        return True
    quarter = read.get(quarter_unit(Quarter.of(day)))
    return quarter is not None and quarter.spans(day, day)


def _quarters(selection: Selection) -> Iterator[Quarter]:
    quarter = Quarter.of(max(selection.since, FIRST_QUARTER))
    while quarter.first <= selection.until:
        yield quarter
        quarter = quarter.next


def weekdays(first: dt.date, last: dt.date) -> Iterator[dt.date]:
    """Days from ``first`` to ``last`` on which EDGAR may publish an index."""
    days = (first + dt.timedelta(days=number) for number in range((last - first).days + 1))
    return (day for day in days if day.weekday() < _SATURDAY)

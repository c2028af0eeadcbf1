"""Which indexes a run reads, and how far the days are complete.

* The daily index of each weekday of the range, once; again while it is young, for filings that come late.
* The quarterly index of each quarter of the range, once a week: it has what was corrected, added and deleted since. For
  quarters that are over it is read instead of the daily ones, one request for three months.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from finray.edgar.ledger import Entry, IndexRead, Ledger
from finray.edgar.listing import FIRST_QUARTER, Quarter, day_unit, quarter_unit
from finray.edgar.selection import Selection

_SATURDAY = 5
_PUBLISHED_AFTER = dt.timedelta(days=2)
"""EDGAR writes the index of a day in its night, Eastern time. None after two days: a holiday."""


@dataclass(frozen=True, slots=True)
class Due:
    quarters: tuple[Quarter, ...]
    days: tuple[dt.date, ...]


def due(selection: Selection, ledger: Ledger, now: dt.datetime, recheck_days: float, *, everything: bool) -> Due:
    """Indexes to ask for in this run, in order; ``everything`` asks for all of the range."""
    read = ledger.indexes(selection.key())
    recheck, today = dt.timedelta(days=recheck_days), now.date()
    quarters, days = [], []
    for quarter in _quarters(selection):
        known = read.get(quarter_unit(quarter))
        settled = is_settled(quarter, now, recheck_days)
        spanned = known is not None and (not settled or known.spans(*span(selection, quarter)))
        if everything or known is None or not spanned or now - known.at >= recheck:
            quarters.append(quarter)
        if not settled:
            first, last = span(selection, quarter)
            days += [
                day
                for day in weekdays(first, min(last, today))
                if everything or day + recheck >= today or not _is_read(day, read)
            ]
    return Due(tuple(quarters), tuple(days))


def span(selection: Selection, quarter: Quarter) -> tuple[dt.date, dt.date]:
    """The days of a quarter that are wanted."""
    return max(selection.since, quarter.first), min(selection.until, quarter.last)


def is_settled(quarter: Quarter, now: dt.datetime, recheck_days: float) -> bool:
    """Whether a quarter's daily indexes are no longer read: then it must have an index of its own."""
    return quarter.last + dt.timedelta(days=recheck_days) < now.date()


def is_holiday(day: dt.date, now: dt.datetime) -> bool:
    """Whether a daily index that is not there will not come any more."""
    return day + _PUBLISHED_AFTER <= now.date()


def incomplete_days(selection: Selection, ledger: Ledger, now: dt.datetime, give_up_after: int) -> list[dt.date]:
    """Weekdays of the range up to today whose index was not read, or of whose filings one is still to come."""
    read = ledger.indexes(selection.key())
    held_up = {entry.listed.day for entry in ledger.entries() if _holds_up(entry, selection, give_up_after)}
    last = min(selection.until, now.date())
    unread = {day for day in weekdays(selection.since, last) if not _is_read(day, read)}
    return sorted(unread | {day for day in held_up if selection.since <= day <= last})


def watermark(selection: Selection, ledger: Ledger, now: dt.datetime, give_up_after: int) -> dt.date | None:
    """The last day up to which everything of the range is there; None where not even the first day is."""
    missing = incomplete_days(selection, ledger, now, give_up_after)
    last = missing[0] - dt.timedelta(days=1) if missing else min(selection.until, now.date())
    return last if last >= selection.since else None


def _holds_up(entry: Entry, selection: Selection, give_up_after: int) -> bool:
    waiting = entry.state == "pending" or (entry.state == "failed" and entry.tries < give_up_after)
    return waiting and selection.wants(entry.listed)


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
    """Days on which EDGAR may have an index, both ends included."""
    day = first
    while day <= last:
        if day.weekday() < _SATURDAY:
            yield day
        day += dt.timedelta(days=1)

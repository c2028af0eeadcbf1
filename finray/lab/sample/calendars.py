"""Fiscal calendars: fixed month-end year ends, and 52/53-week years."""

from __future__ import annotations

import calendar
import datetime as dt
from dataclasses import dataclass
from typing import Literal

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def month_end(year: int, month: int) -> dt.date:
    """The last day of ``month``; months outside 1..12 roll over into neighboring years."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return dt.date(year, month, calendar.monthrange(year, month)[1])


def long_date(day: dt.date) -> str:
    """A date such as ``December 31, 2022``."""
    return f"{calendar.month_name[day.month]} {day.day}, {day.year}"


def column_date(day: dt.date) -> str:
    """The date as the heading of a column, with the year on a second line."""
    return long_date(day).replace(", ", ",\n")


def next_weekday(day: dt.date) -> dt.date:
    """``day``, or the following Monday: the SEC accepts filings only on business days."""
    return day + dt.timedelta(days=max(0, 7 - day.weekday()) if day.weekday() > 4 else 0)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Rule for the end of fiscal years: the last day of ``month``, or the last ``weekday`` (0 is Monday) in it, or the
    one nearest to its end. ``named_after_start``: fiscal 2022 ends in January 2023, as for retailers."""

    month: int
    weekday: int | None = None
    rule: Literal["last", "nearest"] = "last"
    named_after_start: bool = False

    def year_end(self, fiscal_year: int) -> dt.date:
        end = month_end(fiscal_year + self.named_after_start, self.month)
        if self.weekday is None:
            return end
        last = end - dt.timedelta(days=(end.weekday() - self.weekday) % 7)
        following = last + dt.timedelta(days=7)
        if self.rule == "nearest" and following - end < end - last:
            return following
        return last

    def year_start(self, fiscal_year: int) -> dt.date:
        return self.year_end(fiscal_year - 1) + dt.timedelta(days=1)

    def quarter_end(self, fiscal_year: int, quarter: int) -> dt.date:
        """The end of a quarter. Quarter 4 ends with the year and includes a 53rd week."""
        if quarter == 4:
            return self.year_end(fiscal_year)
        if self.weekday is None:
            return month_end(fiscal_year + self.named_after_start, self.month - 3 * (4 - quarter))
        return self.year_end(fiscal_year - 1) + dt.timedelta(weeks=13 * quarter)

    def quarter_start(self, fiscal_year: int, quarter: int) -> dt.date:
        if quarter == 1:
            return self.year_start(fiscal_year)
        return self.quarter_end(fiscal_year, quarter - 1) + dt.timedelta(days=1)

    def weeks(self, fiscal_year: int) -> int:
        return round((self.year_end(fiscal_year) - self.year_end(fiscal_year - 1)).days / 7)

    def description(self) -> str:
        """The sentence of Note 1 that explains the fiscal year."""
        month = calendar.month_name[self.month]
        if self.weekday is None:
            return f"Our fiscal year ends on {month} {month_end(2021, self.month).day}."
        day = _WEEKDAYS[self.weekday]
        where = (
            f"last {day} in {month}"
            if self.rule == "last"
            else f"{day} closest to {month} {month_end(2021, self.month).day}"
        )
        naming = (
            " Fiscal years are identified by the calendar year in which they begin." if self.named_after_start else ""
        )
        return f"We use a 52- or 53-week fiscal year ending on the {where}.{naming}"


DECEMBER = Calendar(12)
RETAIL = Calendar(1, weekday=5, rule="last", named_after_start=True)
OTHERS = (
    DECEMBER,
    Calendar(11, weekday=4, rule="nearest"),
    DECEMBER,
    Calendar(6),
    DECEMBER,
    Calendar(9, weekday=5, rule="last"),
    DECEMBER,
    Calendar(12, weekday=6, rule="nearest"),
)
"""Calendars of companies other than retailers, used in turn."""

"""A fiscal period as a question names it."""

from __future__ import annotations

import calendar
import datetime as dt
from dataclasses import dataclass

from finray.core.filing import FiscalPeriod


@dataclass(frozen=True, slots=True)
class Period:
    """``year`` is a fiscal or calendar year (questions rarely say which); ``part`` is "FY" or a quarter, None if only a
    year was given. ``date`` is an exact day ("the 8-K dated May 5, 2023", "the nine months ended June 28, 2024")."""

    year: int
    part: FiscalPeriod | None = None
    date: dt.date | None = None
    months: int | None = None
    """Length, if the question states it and ``part`` does not imply it: 6 or 9 for a fiscal year to date."""

    def __str__(self) -> str:
        name = self.date.isoformat() if self.date is not None else f"{self.part or 'FY'} {self.year}"
        return name if self.months is None else f"{self.months} months to {name}"

    @property
    def length(self) -> int | None:
        """Months of a flow; None if the question leaves it open: it may name the year of a quarterly report."""
        if self.months is not None:
            return self.months
        return 3 if self.part in ("Q1", "Q2", "Q3", "Q4") and self.date is None else None

    def years_before(self, years: int) -> Period:
        """The same period ``years`` earlier."""
        date = self.date
        if date is not None:
            last = calendar.monthrange(date.year - years, date.month)[1]
            date = date.replace(year=date.year - years, day=min(date.day, last))
        return Period(self.year - years, self.part, date, self.months)

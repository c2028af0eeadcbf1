"""The periods of a filing's facts, and how people name them."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from typing import Literal

from finray.core.filing import Filing
from finray.lab.datasets.xbrl.tagged import Fact

_YEAR = 365.25
_SLACK = 10
"""Days by which the end of a year of 52 or 53 weeks may differ."""
_ORDINALS = ("first", "second", "third", "fourth")
_SHORT_MONTHS = {3: "three", 6: "six", 9: "nine"}


@dataclass(frozen=True, slots=True)
class Period:
    """A fact's period in the company's calendar. ``back`` is the number of years before the filing's own period."""

    kind: Literal["year", "quarter", "year_to_date", "year_end", "quarter_end"]
    fiscal_year: int
    quarter: int
    months: int
    end: dt.date
    back: int

    def names(self) -> tuple[str, ...]:
        """Noun phrases: "fiscal 2022", "Q2 of fiscal 2025", "December 31, 2022"."""
        year, day = self.fiscal_year, long_date(self.end)
        if self.kind == "year":
            return (f"fiscal {year}", f"FY{year}", f"fiscal year {year}", f"the fiscal year ended {day}", f"FY {year}")
        ordinal = _ORDINALS[self.quarter - 1]
        if self.kind == "quarter":
            return (
                f"Q{self.quarter} FY{year}",
                f"the {ordinal} quarter of fiscal {year}",
                f"Q{self.quarter} of fiscal {year}",
                f"the quarter ended {day}",
                f"the three months ended {day}",
            )
        if self.kind == "year_to_date":
            months = _SHORT_MONTHS[self.months]
            return (f"the first {months} months of fiscal {year}", f"the {months} months ended {day}")
        if self.kind == "year_end":
            return (f"the end of fiscal {year}", f"the end of FY{year}", day, f"fiscal year-end {year}")
        return (f"the end of Q{self.quarter} FY{year}", f"the end of the {ordinal} quarter of fiscal {year}", day)

    def when(self, rng: random.Random) -> str:
        """An adverbial: "in fiscal 2022", "for FY2022", "as of December 31, 2022"."""
        name = rng.choice(self.names())
        if self.kind in ("year_end", "quarter_end"):
            return f"as of {name}" if name[0].isupper() else f"at {name}"
        return f"{rng.choice(('in', 'in', 'for'))} {name}"


def period_of(fact: Fact, filing: Filing) -> Period | None:
    """The period if it is a fiscal year, quarter or year to date of the filing, or the end of one. None for others (a
    month of a buyback table, a cumulative period, a date after the balance sheet)."""
    if filing.period_end is None or filing.fiscal_year is None:
        return None
    annual = filing.form.startswith(("10-K", "20-F"))
    quarter = int(filing.fiscal_period[1]) if filing.fiscal_period in ("Q1", "Q2", "Q3") else 0
    if not annual and not (filing.form.startswith("10-Q") and quarter):
        return None
    back = _years_back(filing.period_end, fact.end)
    if back is not None:
        year = filing.fiscal_year - back
        if annual and fact.start is None:
            return Period("year_end", year, 0, 0, fact.end, back)
        if annual and fact.months == 12:
            return Period("year", year, 0, 12, fact.end, back)
        if not annual and fact.start is None:
            return Period("quarter_end", year, quarter, 0, fact.end, back)
        if not annual and fact.months == 3:
            return Period("quarter", year, quarter, 3, fact.end, back)
        if not annual and fact.months == 3 * quarter:
            return Period("year_to_date", year, quarter, fact.months, fact.end, back)
    elif not annual and fact.start is None:
        return _last_year_end(fact.end, filing, quarter)
    return None


def _last_year_end(end: dt.date, filing: Filing, quarter: int) -> Period | None:
    """The comparative balance sheet date of a 10-Q: the end of the previous fiscal year."""
    assert filing.period_end is not None and filing.fiscal_year is not None
    days = (filing.period_end - end).days
    if abs(days - quarter * _YEAR / 4) > 2 * _SLACK:
        return None
    return Period("year_end", filing.fiscal_year - 1, 0, 0, end, 1)


def _years_back(of: dt.date, end: dt.date) -> int | None:
    years = round((of - end).days / _YEAR)
    return years if 0 <= years <= 4 and abs((of - end).days - years * _YEAR) <= _SLACK else None


def long_date(day: dt.date) -> str:
    return f"{day:%B} {day.day}, {day.year}"

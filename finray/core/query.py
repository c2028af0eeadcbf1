"""What a question asks for, as structure: companies, periods, forms, metrics, statements."""

from __future__ import annotations

import calendar
import datetime as dt
from dataclasses import dataclass, field

from finray.core.types import FiscalPeriod, Statement


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A period as the question names it. ``year`` is a fiscal or calendar year (people rarely say which); ``part`` is
    "FY" or a quarter, None where only a year was given. ``date`` is an exact day ("the 8-K dated May 5, 2023", "the
    nine months ended June 28, 2024")."""

    year: int
    part: FiscalPeriod | None = None
    date: dt.date | None = None
    months: int | None = None
    """Length, where the question says it and the part does not: 6 or 9 for a fiscal year to date."""

    def __str__(self) -> str:
        name = self.date.isoformat() if self.date is not None else f"{self.part or 'FY'} {self.year}"
        return name if self.months is None else f"{self.months} months to {name}"

    def years_before(self, years: int) -> Period:
        """The same period so many years earlier."""
        date = self.date
        if date is not None:
            last = calendar.monthrange(date.year - years, date.month)[1]
            date = date.replace(year=date.year - years, day=min(date.day, last))
        return Period(self.year - years, self.part, date, self.months)


@dataclass(frozen=True, slots=True)
class Query:
    """A question, understood.

    ``question`` is the question as asked, ``text`` the same without its instructions and boilerplate (HiREC's q').
    ``companies`` are keys of the company catalog, ``unknown_companies`` names that the index does not hold.
    ``metrics`` are canonical line items or named formulas in the order they appear; ``statements`` the primary
    statements that the question names (``statements_named``) or that its metrics imply.
    """

    question: str
    text: str
    companies: tuple[str, ...] = ()
    unknown_companies: tuple[str, ...] = ()
    periods: tuple[Period, ...] = ()
    last_years: int | None = None
    forms: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    statements_named: tuple[Statement, ...] = ()
    names: tuple[str, ...] = ()
    """The words by which the question calls its companies."""
    unexplained: tuple[str, ...] = ()
    """Words that are neither company, period, metric nor the common words of a numeric question: with any left, the
    question asks for something narrower than its metrics ("wages as a percent of sales", "adjusted EBITDA")."""
    terms: tuple[str, ...] = field(default=())
    """Words added to ``text`` for lexical search: the accounting wording behind everyday terms."""

    @property
    def years(self) -> tuple[int, ...]:
        return tuple(sorted({period.year for period in self.periods}))

    @property
    def latest(self) -> Period | None:
        """The period whose filing should hold the answer: filings print comparatives of earlier ones."""
        return max(self.periods, key=_recency) if self.periods else None


def _recency(period: Period) -> tuple[int, int, dt.date]:
    order = {"Q1": 1, "Q2": 2, "Q3": 3, "Q4": 4, "FY": 4, None: 0}
    return (period.year, order[period.part], period.date or dt.date.min)

"""Reads the period of a column from headings and titles: "Three Months Ended June 30," over "2022  2021"."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Self

from finray.core.filing import Filing, Statement
from finray.core.forms import ANNUAL, ANNUAL_REPORT_TO_HOLDERS
from finray.filings.dates import add_months, is_month_end, last_of_month
from finray.filings.tables.period_headings import (
    QUARTER,
    Heading,
    PartialDate,
    find_days,
    length_in_months,
    partial_date,
    read_heading,
)

_EVENT = re.compile(r"\b(?:on|since|until|by|after|before|dated|effective)\s++$", re.IGNORECASE)
"""Comes before the date of an event in the prose above a note's table."""
_CLOSES = re.compile(r"\b(?:ended|ending|as of|at)\s++$", re.IGNORECASE)
"""Comes before a month, without day or year, that dates a column."""
_OF_YEAR = re.compile(
    r"\b(?:for|during|in) (?:the )?(?:(?:fiscal|year) ){0,2}(20\d\d)\b[^.]{0,80}(?:\bfollow|\bbelow\b|:)", re.IGNORECASE
)
"""Introduces a table of one year: "activity for fiscal 2024 was as follows"."""
_NEAR = 40
"""Characters before a date in which such words count."""
_WEEKDAY_DAYS = 10
"""Days by which years that end on a weekday may end later."""
_INSTANT = re.compile(
    r"\b(?:at|as of) (?=[A-Z][a-z]{2,8}\.? \d)(?!.*\b(?:ended|months|years?)\b)", re.IGNORECASE | re.DOTALL
)
_PERIOD_LINE = re.compile(r"\b(?:ended|ending|months|weeks|years)\b", re.IGNORECASE)
_TOTAL = re.compile(r"\b(?:total|full[\s-]?year)\b", re.IGNORECASE)
MAX_TITLES = 10_000
"""Characters kept of titles; further rows do not name the period."""


@dataclass(frozen=True, slots=True)
class Period:
    """``months`` is 0 for an instant, None if unknown."""

    end: dt.date | None
    months: int | None


@dataclass(frozen=True, slots=True)
class Calendar:
    """Reads the period of a column from its headings, completed from the page's title and the filing."""

    filing: Filing
    statement: Statement | None
    titles: str
    """The top of the page, and heading rows over the whole table."""
    _known: dict[str, Period] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Periods of headings read so far; all figures of a column ask for the same."""

    def with_title(self, text: str, *, first: bool = False) -> Self:
        """This calendar with another title, ``first`` or last, unless it is known or titles are too long already."""
        if first and names_length(text):
            return replace(self, titles=f"{text}\n{self.titles}"[:MAX_TITLES])
        if text in self.titles or len(self.titles) + len(text) > MAX_TITLES:
            return self
        return replace(self, titles=f"{self.titles}\n{text}")

    def period(self, column: int, headings: Mapping[int, str]) -> Period:
        """The period of ``column``; ``headings`` has the joined text of each column's headings."""
        text = headings.get(column, "")
        period = self._known.get(text)
        if period is None:
            period = self._known[text] = self._period(text)
        return period

    def _period(self, text: str) -> Period:
        heading = read_heading(text)
        if heading.years or (heading.change and heading.year is None):
            return Period(None, None)
        if heading.coded and heading.year is not None:
            closes = year_end(heading.year, self.filing)
            return Period(self._quarter_end(heading, closes), 0 if self.statement == "balance" else 3)
        end, months = self._end(heading), 0 if _INSTANT.search(text) else self._months(heading)
        if (short := self._transition(text, heading, end)) is not None:
            return short
        if self._is_quarter(heading, end):
            return Period(self._quarter_end(heading, end), 3)
        if months == 3 and heading.month is None and self.filing.fiscal_period == "FY" and _TOTAL.search(text):
            months = 12  # beside the quarters that add up to it
        return Period(end, months)

    def _transition(self, text: str, heading: Heading, end: dt.date | None) -> Period | None:
        """The transition period of a transition report, if the heading names it, or its last day and no length."""
        months, closes = self.filing.transition_months, self.filing.period_end
        if months is None or closes is None or self.statement == "balance":
            return None
        named = "transition" in text.lower() and (heading.month is None or heading.year is None)
        if named or (end == closes and heading.months is None and heading.month is not None):
            return Period(closes, months)
        return None

    def _is_quarter(self, heading: Heading, end: dt.date | None) -> bool:
        """Whether the column is a quarter of the year that ends on ``end``, in an annual report's quarterly table."""
        known, annual = self.filing.period_end, self.filing.fiscal_period in ("FY", "Q4")
        if heading.quarter is None or end is None or known is None or not annual or end.month != known.month:
            return False
        return heading.months == 3 or (heading.months is None and QUARTER.search(self.titles) is not None)

    @staticmethod
    def _quarter_end(heading: Heading, year_end: dt.date | None) -> dt.date | None:
        return add_months(year_end, -3 * (4 - (heading.quarter or 4))) if year_end is not None else None

    def opening(self, period: Period, headings: Mapping[int, str]) -> Period:
        """The instant at which ``period`` began: the end of another column's period if one is near, else computed."""
        if period.end is None or not period.months:
            return Period(None, 0)
        guess = self._opening_day(period.end, period.months)
        for column in headings:
            other = self.period(column, headings).end
            if other is not None and abs((other - guess).days) <= 8:
                return Period(other, 0)
        return Period(guess, 0)

    def _opening_day(self, end: dt.date, months: int) -> dt.date:
        """The day before a period began. A year that does not end with a month is taken to have 52 weeks."""
        by_months = add_months(end, -months)
        if is_month_end(end):
            return by_months
        fiscal = self.filing.fiscal_year_end or ""
        if (match := re.fullmatch(r"(\d\d)-(\d\d)", fiscal)) and months % 12:
            for year in (by_months.year, by_months.year - 1):
                close = _date(year, int(match[1]), int(match[2]), self.filing)
                if close is not None and is_month_end(close) and abs((close - by_months).days) <= 8:
                    return close
        return end - dt.timedelta(weeks=round(months * 52 / 12))

    def _end(self, heading: Heading) -> dt.date | None:
        titles = _title_dates(self.titles, self.statement is None)
        if heading.year is None and heading.month is not None:
            known = self.filing.period_end
            return _at_most(known, heading.month, heading.day, self.filing) if known else None
        if heading.year is None:  # one column, dated by the title: "As of December 31, 2022"
            full = {date for date in titles if date[0] is not None}
            years = {int(year) for year in _OF_YEAR.findall(self.titles)} if self.statement is None else set()
            if not full and len(years) == 1:
                return _fiscal_year_end(years.pop(), self.filing)
            return _date(*full.pop(), self.filing) if len(full) == 1 else None
        if heading.month is not None:
            close = _fiscal_year_end(heading.year, self.filing) if heading.fiscal and heading.apart else None
            if close is not None:
                return _at_most(close, heading.month, heading.day, self.filing)
            return _date(heading.year, heading.month, heading.day, self.filing)
        fiscal = _fiscal_year_end(heading.year, self.filing)
        same = (date for date in titles if date[0] == heading.year)
        after = (date for date in titles if date[0] == heading.year + 1 and date[1] <= 6)
        early = after if fiscal is not None and fiscal.year == heading.year + 1 else ()
        bare = ((heading.year, month, day) for year, month, day in titles if year is None)
        titled = next(chain(same, early, bare), None)
        return _date(*titled, self.filing) if titled else fiscal

    def _months(self, heading: Heading) -> int | None:
        if self.statement == "balance":
            return 0
        if heading.months is not None:
            return heading.months
        if (titled := _title_length(self.titles)) is not None:
            return titled
        if self.statement is None:
            return None
        if self.filing.fiscal_period == "FY" or self.filing.form.startswith((*ANNUAL, ANNUAL_REPORT_TO_HOLDERS)):
            return 12
        if self.statement == "cash_flow" and self.filing.fiscal_period in ("Q1", "Q2", "Q3"):
            return 3 * int(self.filing.fiscal_period[1])
        return 3 if self.filing.fiscal_period in ("Q1", "Q2", "Q3") else None


@lru_cache(maxsize=256)  # called for each cell of a table
def _title_dates(titles: str, note: bool) -> tuple[PartialDate, ...]:
    found: list[PartialDate] = []
    for match in find_days(titles):
        if match["day"] is None and match["month"].lower() in {"may", "mar"}:
            continue
        near = max(0, match.start() - _NEAR)
        if match["day"] is None and match["year"] is None and not _CLOSES.search(titles, near, match.start()):
            continue
        if note and _EVENT.search(titles, near, match.start()):
            continue
        found.append(partial_date(match))
    return tuple(found)


def names_length(title: str) -> bool:
    """Whether a title names a length of time: "Six months ended June 30,"."""
    return _PERIOD_LINE.search(title) is not None and length_in_months(title) is not None


@lru_cache(maxsize=256)
def _title_length(titles: str) -> int | None:
    """Months of the period named in lines such as "For the years ended"."""
    short = (line for line in titles.split("\n") if len(line) < 140)
    return length_in_months("\n".join(filter(_PERIOD_LINE.search, short)))


def _fiscal_year_end(year: int, filing: Filing) -> dt.date | None:
    """The filing's period end, moved to the fiscal year that the company calls ``year``; in a transition report the
    end of the years before."""
    if filing.period_end is not None and filing.transition_months is None:
        named = filing.fiscal_year if filing.fiscal_year is not None else filing.period_end.year
        return _shift_years(filing.period_end, year - named)
    if filing.fiscal_year_end and re.fullmatch(r"(?:--)?\d\d-\d\d", filing.fiscal_year_end):
        month, day = (int(part) for part in filing.fiscal_year_end.strip("-").split("-"))
        return _date(year, month, day, filing) if 1 <= month <= 12 else None
    return None


def year_end(year: int, filing: Filing) -> dt.date | None:
    """The end of the fiscal year that the company calls ``year``, for annual and quarterly filings."""
    quarter = {"Q1": 1, "Q2": 2, "Q3": 3}.get(filing.fiscal_period or "", 4)
    end = _fiscal_year_end(year, filing)
    return end if end is None or filing.period_end is None else add_months(end, 3 * (4 - quarter))


def _shift_years(date: dt.date, years: int) -> dt.date | None:
    return add_months(date, 12 * years) if 1900 <= date.year + years <= 2200 else None


def _at_most(last: dt.date, month: int, day: int | None, filing: Filing) -> dt.date | None:
    """The day within the year that ends on ``last``, or a few days later for years that end on a weekday."""
    date = _date(last.year, month, day, filing)
    return _shift_years(date, -1) if date is not None and (date - last).days > _WEEKDAY_DAYS else date


def _date(year: int | None, month: int, day: int | None, filing: Filing) -> dt.date | None:
    if year is None or not 1900 <= year <= 2200 or not 1 <= month <= 12:
        return None
    last, known = last_of_month(year, month), filing.period_end
    if day is None:
        day = known.day if known is not None and known.month == month else last.day
    return last.replace(day=min(max(day, 1), last.day))

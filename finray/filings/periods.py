"""Reporting periods from table headings: "Three Months Ended June 30," over "2022  2021"."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from finray.core.types import Filing, Statement
from finray.core.vocabulary import COUNT, MONTH, MONTHS, ORDINAL, number_of

_MONTH = rf"(?P<month>{MONTH})\b\.?"
_DAY_OF = re.compile(
    _MONTH + r"\s*(?P<day>\d{1,2})?(?:st|nd|rd|th)?\s*,?\s*(?P<year>(?:19|20)\d\d)?(?!\d)", re.IGNORECASE
)
_NUMERIC_DATE = re.compile(r"\b(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d{2})\b")
_YEAR = re.compile(r"(?<![\d,.$])((?:19|20)\d\d)(?![\d,])")
_COUNT = f"(?P<count>{COUNT})"
_MONTHS_LONG = re.compile(_COUNT + r"[\s-]+months?\b", re.IGNORECASE)
_WEEKS_LONG = re.compile(_COUNT + r"[\s-]+weeks?\b", re.IGNORECASE)
_QUARTER = re.compile(rf"\b(?:quarters?(?: |$|ly)|fiscal quarter|{ORDINAL} quarter|q[1-4]\b)", re.IGNORECASE)
_YEARS_LONG = re.compile(r"\b(?:years?|fiscal|annual|twelve months|full.year|fy)\b", re.IGNORECASE)
_YEAR_TO_DATE = re.compile(r"\byear.to.date\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Heading:
    """The period in a column's headings; None for parts that they do not name. ``change`` marks a difference."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    months: int | None = None
    fiscal: bool = False
    change: bool = False


_CHANGE = re.compile(
    r"\b(?:change|variance|increase|decrease|growth|% ?chg|vs\.?|constant|over (?:19|20)\d\d)\b", re.IGNORECASE
)


@lru_cache(maxsize=4096)  # called for each cell of a column
def read_heading(text: str) -> Heading:
    """Year, month, day and length of the period that ``text`` names."""
    year = month = day = None
    dates = list(_DAY_OF.finditer(text))
    years = {int(y) for y in _YEAR.findall(text)}
    if dates:
        # The last full date counts: "Year ended" stands before its date.
        match = next((m for m in reversed(dates) if m["year"]), dates[-1])
        month, day = MONTHS[match["month"].lower()], int(match["day"]) if match["day"] else None
        year = int(match["year"]) if match["year"] else None
        if match["month"].lower() == "may" and day is None and year is None:
            month = None
    elif numeric := _NUMERIC_DATE.search(text):
        month, day, year = int(numeric["month"]), int(numeric["day"]), int(numeric["year"])
        year += 2000 if year < 70 else 1900 if year < 100 else 0
    if year is None and len(years) == 1:
        year = next(iter(years))
    if month is not None and not 1 <= month <= 12:
        month = day = None
    return Heading(
        year,
        month,
        day,
        _length(text),
        bool(re.search(r"\bfiscal\b|\bfy\b", text, re.IGNORECASE)),
        bool(_CHANGE.search(text)),
    )


def _length(text: str) -> int | None:
    """Months of the period; a quarter may have 11 to 17 weeks, as retailers count."""
    if match := _MONTHS_LONG.search(text):
        return number_of(match["count"])
    if match := _WEEKS_LONG.search(text):
        weeks = number_of(match["count"])
        usual = ((11, 17, 3), (22, 29, 6), (34, 41, 9), (51, 54, 12))
        return next((n for low, high, n in usual if low <= weeks <= high), max(1, round(weeks * 12 / 52)))
    if _YEAR_TO_DATE.search(text):
        return None
    if _QUARTER.search(text):
        return 3
    return 12 if _YEARS_LONG.search(text) else None


@dataclass(frozen=True, slots=True)
class Period:
    """``months`` is 0 for an instant, None if it is unknown."""

    end: dt.date | None
    months: int | None


_EVENT = re.compile(r"\b(?:on|since|until|by|after|before|dated|effective)\s++$", re.IGNORECASE)
"""Before the date of an event in the prose above a note's table."""
_CLOSES = re.compile(r"\b(?:ended|ending|as of|at)\s++$", re.IGNORECASE)
"""Before the name of a month, without day or year, that dates a column."""
_NEAR = 40
"""Characters before a date in which such words count."""
MAX_TITLES = 10_000
"""Characters kept of titles; further rows do not show the period."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """Turns the headings of a column into its period, completed from the page's title and the filing."""

    filing: Filing
    statement: Statement | None
    titles: str
    """The top of the page, and heading rows that belong to no column."""

    def with_title(self, text: str) -> Calendar:
        if text in self.titles or len(self.titles) + len(text) > MAX_TITLES:
            return self
        return replace(self, titles=f"{self.titles}\n{text}")

    def period(self, column: int, headings: Mapping[int, str]) -> Period:
        """The period of ``column``; ``headings`` maps a column to the text of all its heading cells."""
        text = headings.get(column, "")
        heading = read_heading(text)
        if heading.change and heading.year is None:
            return Period(None, None)
        return Period(self._end(heading), self._months(heading))

    def opening(self, period: Period, headings: Mapping[int, str]) -> Period:
        """The instant at which ``period`` began: the end of another column's period if one fits, else computed."""
        if period.end is None or not period.months:
            return Period(None, 0)
        guess = self._opening_day(period.end, period.months)
        for column in headings:
            other = self.period(column, headings).end
            if other is not None and abs((other - guess).days) <= 8:
                return Period(other, 0)
        return Period(guess, 0)

    def _opening_day(self, end: dt.date, months: int) -> dt.date:
        """The day before a period began. Years that do not end with a month are taken to have 52 weeks."""
        by_months = _months_before(end, months)
        if is_month_end(end):
            return by_months
        fiscal = self.filing.fiscal_year_end or ""
        if (match := re.fullmatch(r"(\d\d)-(\d\d)", fiscal)) and months % 12:
            close = _date(by_months.year, int(match[1]), int(match[2]), self.filing)
            for year in (0, -1, 1):
                close = _shift_years(close, year) if close else None
                if close is not None and is_month_end(close) and abs((close - by_months).days) <= 8:
                    return close
        return end - dt.timedelta(weeks=round(months * 52 / 12))

    def _end(self, heading: Heading) -> dt.date | None:
        titles = _title_dates(self.titles, self.statement is None)
        if heading.year is None and heading.month is not None:
            year = self.filing.period_end.year if self.filing.period_end else None
            return _date(year, heading.month, heading.day, self.filing) if year else None
        if heading.year is None:
            full = {date for date in titles if date[0] is not None}
            if len(full) == 1:  # one column, dated by the title: "As of December 31, 2022"
                year, month, day = next(iter(full))
                return _date(year, month, day, self.filing) if year is not None else None
            return None
        if heading.month is not None:
            return _date(heading.year, heading.month, heading.day, self.filing)
        for year, month, day in titles:
            if year == heading.year:
                return _date(year, month, day, self.filing)
        fiscal = _fiscal_year_end(heading.year, self.filing)
        for year, month, day in titles:
            if year == heading.year + 1 and month <= 6 and fiscal is not None and fiscal.year == year:
                return _date(year, month, day, self.filing)
        bare = [(month, day) for year, month, day in titles if year is None]
        if bare:
            return _date(heading.year, *bare[0], self.filing)
        return fiscal

    def _months(self, heading: Heading) -> int | None:
        if self.statement == "balance":
            return 0
        if heading.months is not None:
            return heading.months
        if (titled := _title_length(self.titles)) is not None:
            return titled
        if self.statement is None:
            return None
        if self.filing.fiscal_period == "FY" or self.filing.form.startswith(("10-K", "20-F", "40-F", "ARS")):
            return 12
        if self.statement == "cash_flow" and self.filing.fiscal_period in ("Q1", "Q2", "Q3"):
            return 3 * int(self.filing.fiscal_period[1])
        return 3 if self.filing.fiscal_period in ("Q1", "Q2", "Q3") else None


_PERIOD_LINE = re.compile(r"\b(?:ended|ending|months|weeks|years)\b", re.IGNORECASE)
_TitleDate = tuple[int | None, int, int | None]
"""(year, month, day)"""


@lru_cache(maxsize=256)  # called for each cell of a table
def _title_dates(titles: str, note: bool) -> tuple[_TitleDate, ...]:
    found: list[_TitleDate] = []
    for match in _DAY_OF.finditer(titles):
        if match["day"] is None and match["month"].lower() in {"may", "mar"}:
            continue
        near = max(0, match.start() - _NEAR)
        if match["day"] is None and match["year"] is None and not _CLOSES.search(titles, near, match.start()):
            continue
        if note and _EVENT.search(titles, near, match.start()):
            continue
        found.append(
            (
                int(match["year"]) if match["year"] else None,
                MONTHS[match["month"].lower()],
                int(match["day"]) if match["day"] else None,
            )
        )
    return tuple(found)


@lru_cache(maxsize=256)
def _title_length(titles: str) -> int | None:
    """Months of the period named in lines such as "For the years ended"."""
    short = (line for line in titles.split("\n") if len(line) < 140)
    return _length("\n".join(filter(_PERIOD_LINE.search, short)))


def _fiscal_year_end(year: int, filing: Filing) -> dt.date | None:
    """The end of a fiscal year as the company counts it, for a bare "2022"."""
    if filing.period_end is not None:
        named = filing.fiscal_year if filing.fiscal_year is not None else filing.period_end.year
        return _shift_years(filing.period_end, year - named)
    if filing.fiscal_year_end and re.fullmatch(r"(?:--)?\d\d-\d\d", filing.fiscal_year_end):
        month, day = (int(part) for part in filing.fiscal_year_end.strip("-").split("-"))
        return _date(year, month, day, filing) if 1 <= month <= 12 else None
    return None


def _shift_years(date: dt.date, years: int) -> dt.date | None:
    year = date.year + years
    return _at_month_end(date, year, date.month) if 1900 <= year <= 2200 else None


def _months_before(date: dt.date, months: int) -> dt.date:
    index = date.year * 12 + date.month - 1 - months
    return _at_month_end(date, max(index // 12, 1), index % 12 + 1)


def is_month_end(date: dt.date) -> bool:
    return date.day == calendar.monthrange(date.year, date.month)[1]


def _at_month_end(date: dt.date, year: int, month: int) -> dt.date:
    last = calendar.monthrange(year, month)[1]
    return dt.date(year, month, last if is_month_end(date) else min(date.day, last))


def _date(year: int, month: int, day: int | None, filing: Filing) -> dt.date | None:
    if not 1900 <= year <= 2200 or not 1 <= month <= 12:
        return None
    last = calendar.monthrange(year, month)[1]
    if day is None:
        known = filing.period_end
        day = known.day if known is not None and known.month == month else last
    return dt.date(year, month, min(max(day, 1), last))


def read_balance_date(label: str) -> dt.date | None:
    """The day of a row such as "Balance at December 31, 2022"."""
    if not re.search(r"\bbalances?\b|^\W*(?:as of|at)\b|^" + _MONTH, label, re.IGNORECASE):
        return None
    match = next((m for m in _DAY_OF.finditer(label) if m["day"] and m["year"]), None)
    if match is None:
        return None
    year, month, day = int(match["year"]), MONTHS[match["month"].lower()], int(match["day"])
    if not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return dt.date(year, month, day)


def months_between(start: dt.date, end: dt.date) -> int | None:
    months = round((end - start).days / 30.4375)
    return months if months > 0 else None

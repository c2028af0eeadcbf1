"""Reporting periods from table headings: "Three Months Ended June 30," over "2022  2021"."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Self

from finray.core.types import Filing, Statement
from finray.core.vocabulary import COUNT, MONTH, MONTHS, NUMBER, ORDINAL, ORDINALS, SCALE, number_of
from finray.filings.dates import add_months, is_month_end, last_of_month, to_date

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
_QUARTERS_LONG = re.compile(
    rf"\b(?:trailing|last|past|rolling)[\s-]+{_COUNT}[\s-]+quarters?\b|\b(?P<ended>{COUNT})[\s-]+quarters?\s+end(?:ed|ing)\b",
    re.IGNORECASE,
)
_NTH_QUARTER = re.compile(rf"\b(?:(?P<ordinal>{ORDINAL})|q(?P<number>[1-4]))\b", re.IGNORECASE)
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
    quarter: int | None = None
    """The quarter of the year, if it is what tells the column from others: "Second quarter", "Q2", "Second"."""
    apart: bool = False
    """The year stands apart from month and day: "Fiscal 2019 | September 30"."""


_CHANGE = re.compile(
    r"\b(?:change|variance|increase|decrease|growth|% ?chg|vs\.?|constant|over (?:19|20)\d\d)\b", re.IGNORECASE
)


@lru_cache(maxsize=4096)  # called for each cell of a column
def read_heading(text: str) -> Heading:
    """Year, month, day and length of the period that ``text`` names."""
    year = month = day = None
    apart = False
    years = {int(y) for y in _YEAR.findall(text)}
    if dates := list(_DAY_OF.finditer(text)):
        # The last full date counts: "Year ended" stands before its date.
        match = next((m for m in reversed(dates) if m["year"]), dates[-1])
        year, month, day = _title_date(match)
        if match["month"].lower() == "may" and day is None and year is None:
            month = None
    elif numeric := _NUMERIC_DATE.search(text):
        month, day, year = int(numeric["month"]), int(numeric["day"]), int(numeric["year"])
        year += 2000 if year < 70 else 1900 if year < 100 else 0
    if year is None and len(years) == 1:
        year, apart = next(iter(years)), month is not None
    if month is not None and not 1 <= month <= 12:
        month = day = None
    return Heading(
        year,
        month,
        day,
        _length(text),
        bool(re.search(r"\bfiscal\b|\bfy\b", text, re.IGNORECASE)),
        bool(_CHANGE.search(text)),
        _quarter_of(text),
        apart,
    )


def _quarter_of(text: str) -> int | None:
    """The number in a heading of nothing but a quarter, its period and footnotes."""
    match = _NTH_QUARTER.search(text)
    if match is None or _PERIOD_WORDS.sub("", _FOOTNOTE.sub(" ", text)):
        return None
    return int(match["number"]) if match["number"] else ORDINALS[match["ordinal"].lower()]


def _length(text: str) -> int | None:
    """Months of the period; a quarter may have 11 to 17 weeks, as retailers count."""
    if match := _MONTHS_LONG.search(text):
        return number_of(match["count"])
    if match := _QUARTERS_LONG.search(text):
        return 3 * number_of(match["count"] or match["ended"])
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
_WEEKDAY_DAYS = 10
_TOTAL = re.compile(r"\b(?:total|full[\s-]?year)\b", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\(\s*(?:\d{1,2}|[a-z])\s*\)")
MAX_TITLES = 10_000
"""Characters kept of titles; further rows do not show the period."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """Turns the headings of a column into its period, completed from the page's title and the filing."""

    filing: Filing
    statement: Statement | None
    titles: str
    """The top of the page, and heading rows that belong to no column."""

    def with_title(self, text: str) -> Self:
        if text in self.titles or len(self.titles) + len(text) > MAX_TITLES:
            return self
        return replace(self, titles=f"{self.titles}\n{text}")

    def period(self, column: int, headings: Mapping[int, str]) -> Period:
        """The period of ``column``; ``headings`` maps a column to the text of all its heading cells."""
        text = headings.get(column, "")
        heading = read_heading(text)
        if heading.change and heading.year is None:
            return Period(None, None)
        end, months = self._end(heading), self._months(heading)
        if self._is_quarter(heading, end):
            return Period(self._quarter_end(heading, end), 3)
        if months == 3 and heading.month is None and self.filing.fiscal_period == "FY" and _TOTAL.search(text):
            months = 12  # beside the quarters that add up to it
        return Period(end, months)

    def _is_quarter(self, heading: Heading, end: dt.date | None) -> bool:
        """Whether the column is a quarter of a year that ends on ``end``, in an annual report's table by quarters."""
        known, annual = self.filing.period_end, self.filing.fiscal_period in ("FY", "Q4")
        if heading.quarter is None or end is None or known is None or not annual:
            return False
        by_quarters = heading.months == 3 or _QUARTER.search(self.titles) is not None
        return by_quarters and end.month == known.month and heading.months in (None, 3)

    @staticmethod
    def _quarter_end(heading: Heading, year_end: dt.date | None) -> dt.date | None:
        return add_months(year_end, -3 * (4 - (heading.quarter or 4))) if year_end is not None else None

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
        by_months = add_months(end, -months)
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
            known = self.filing.period_end
            return _at_most(known, heading.month, heading.day, self.filing) if known else None
        if heading.year is None:  # one column, dated by the title: "As of December 31, 2022"
            full = {date for date in titles if date[0] is not None}
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
        found.append(_title_date(match))
    return tuple(found)


def _title_date(match: re.Match[str]) -> _TitleDate:
    year, day = (int(match[part]) if match[part] else None for part in ("year", "day"))
    return year, MONTHS[match["month"].lower()], day


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
    return add_months(date, 12 * years) if 1900 <= date.year + years <= 2200 else None


def _at_most(last: dt.date, month: int, day: int | None, filing: Filing) -> dt.date | None:
    """The day of the year that ends on ``last``, with some days for years that end on a weekday."""
    date = _date(last.year, month, day, filing)
    return _shift_years(date, -1) if date is not None and (date - last).days > _WEEKDAY_DAYS else date


def _date(year: int | None, month: int, day: int | None, filing: Filing) -> dt.date | None:
    if year is None or not 1900 <= year <= 2200 or not 1 <= month <= 12:
        return None
    last, known = last_of_month(year, month), filing.period_end
    if day is None:
        day = known.day if known is not None and known.month == month else last.day
    return last.replace(day=min(max(day, 1), last.day))


def read_balance_date(label: str) -> dt.date | None:
    """The day of a row such as "Balance at December 31, 2022"."""
    if not re.search(r"\bbalances?\b|^\W*(?:as of|at)\b|^" + _MONTH, label, re.IGNORECASE):
        return None
    match = next((m for m in _DAY_OF.finditer(label) if m["day"] and m["year"]), None)
    return to_date(int(match["year"]), MONTHS[match["month"].lower()], int(match["day"])) if match else None


def months_between(start: dt.date, end: dt.date) -> int | None:
    months = round((end - start).days / 30.4375)
    return months if months > 0 else None


MAX_COLUMN_LABEL = 200

_PERIOD_WORDS = re.compile(
    rf"\b(?:{MONTH}|ended|ending|end|months?|weeks?|years?|quarters?|quarterly|fiscal|fy|as|at|of|for|the|in|"
    rf"on|and|unaudited|audited|restated|{ORDINAL}|{NUMBER}|"
    rf"q[1-4]|{SCALE}s?|amounts?|dollars?|except|per share|data)\b|[\W\d_]+",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)  # called for each cell of a column
def column_label(heading: str) -> str | None:
    """``heading`` if it holds more than a period and a scale, else None."""
    return heading[:MAX_COLUMN_LABEL] if _PERIOD_WORDS.sub("", heading) else None


def is_period(label: str) -> bool:
    """Whether ``label`` names a year and nothing else: "2024", "Fiscal year ended June 30, 2024:"."""
    return read_heading(label).year is not None and not _PERIOD_WORDS.sub("", label)

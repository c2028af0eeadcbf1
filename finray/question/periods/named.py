"""Finds fiscal years, quarters, dates and spans of years in a question."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final, cast

from finray.core.filing import FiscalPeriod
from finray.core.period import Period
from finray.core.vocabulary import COUNT, MONTH, MONTHS, ORDINAL, ORDINALS, number_of
from finray.question.words import blanked

_MONTH = rf"(?P<month>{MONTH})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_SHORT_YEAR = r"['’]?(?P<year>(?:19|20)?\d\d)"
_LAST_YEAR = r"['’]?(?P<last>(?:19|20)?\d\d)"
_QUARTER = r"(?P<quarter>[1-4])"
_ORDINAL = f"(?P<quarter>{ORDINAL})"
_OF = r"(?>(?:\s*+(?:(?:of|in|for|the|fiscal|year)\b|[,/'’-]))*)\s*+(?:fy\s*+)?"

_DATES = (
    re.compile(rf"\b{_MONTH}\s++{_DAY}\s*+(?:,\s*+)?{_YEAR}\b", re.I),
    re.compile(rf"\b{_DAY}\s++(?:of\s++)?{_MONTH}\s*+(?:,\s*+)?{_YEAR}\b", re.I),
    re.compile(rf"\b{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)\b"),
)
_SAME_DAY = re.compile(
    rf"\s*+(?:(?:,\s*+)?(?:and|&|to|or|versus|vs\.?|compared (?:to|with))|,)\s++(?:in\s++)?{_YEAR}\b(?!-\d)", re.I
)
"""A second year after a date: "December 31, 2019 and 2018"."""
_WHOLE_OR_QUARTER = r"\s++(?:fiscal\s++year|full[- ]year|annual|10-?K)|\s*+(?:-\s*+)?(?:Q|[1-4]Q)"
_SAME_PART = re.compile(
    r"\s*+(?:,\s*+)?(?:and|&|or|versus|vs\s?\.?|over|against|than|from|to|compared\s++(?:to|with))\s++"
    rf"(?:in\s++|that\s++of\s++)?(?:(?:fiscal|FY)\s*+)?{_YEAR}\b(?!{_WHOLE_OR_QUARTER})",
    re.I,
)
"""A second year after a part of one: "the first quarter of 2018 and 2017"."""
_SAME_YEAR = re.compile(rf"\b{_MONTH}\s++{_DAY}\s*+(?:,\s*+)?(?:and|&|to|or|versus|vs\.?)\s++$", re.I)
"""A day before a date: "April 27 and January 26, 2019"."""
_QUARTERS = (
    re.compile(rf"\bQ\s*{_QUARTER}{_OF}{_SHORT_YEAR}\b", re.I),
    re.compile(rf"(?:\b(?:(?:FY|fiscal(?: year)?)\s*+)?|(?<=\w\s)){_SHORT_YEAR}\s*+(?:-\s*+)?Q\s*+{_QUARTER}\b", re.I),
    re.compile(rf"\b{_ORDINAL}\s+(?:fiscal\s+)?quarters?{_OF}{_SHORT_YEAR}\b", re.I),
    re.compile(rf"\b{_QUARTER}Q\s*{_SHORT_YEAR}\b", re.I),
    re.compile(rf"\b(?:FY|fiscal(?: year)?)\s*{_SHORT_YEAR}['’]?s?\s+{_ORDINAL}\s+(?:fiscal\s+)?quarter\b", re.I),
)
_FISCAL_YEARS = (
    re.compile(rf"\b(?:FY|fiscal(?:\s++years?)?)\s*+(?:-\s*+)?{_SHORT_YEAR}\b", re.I),
    re.compile(r"\bF(?P<year>\d\d)\b"),
    re.compile(rf"\b(?:full[- ]year|annual(?:ly)?(?: report)?|10-?K)(?:\s+(?:for|of|in))?\s+{_YEAR}\b", re.I),
    re.compile(rf"\b{_YEAR}\s+(?:fiscal\s+year|full[- ]year|annual|10-?K)\b", re.I),
)
_BARE_YEAR = re.compile(rf"(?<![\d.,$/-]){_YEAR}(?![\d%]|[.,]\d)")
_SPAN = re.compile(
    rf"(?:\b(?:(?:FY|fiscal(?: year)?)\s*+)?|(?<=\w\s)){_SHORT_YEAR}\s*+(?:-|–|—|to|through|until|thru)\s*+"
    rf"(?:(?:FY|fiscal(?: year)?)\s*+)?{_LAST_YEAR}\b",
    re.I,
)
_N = f"({COUNT})"
_YEARS = r"(?:fiscal\s+|full\s+)?years?"
_LAST_YEARS = re.compile(
    rf"\b(?:last|past|previous|most recent|prior|latest|over)\s+(?:the\s+)?(?:last\s+|past\s+)?{_N}\s+{_YEARS}\b"
    rf"|\b{_N}(?:\s+{_YEARS}\s+(?:that\s+)?(?:end(?:ed|ing)|through|up to|to)|"
    r"[- ]years?\s+(?:period|span|stretch|window))\b"
    rf"|\b(?:for|across|during|in)\s+(?:all\s+)?(?:the|these|those|all)\s+{_N}\s+{_YEARS}\b",
    re.I,
)
_MONTHS_ENDED = re.compile(
    rf"\b(?:(?P<count>{COUNT})[\s-]+(?P<each>month|week|quarter)s?|(?P<one>half[\s-]+year|year|quarter)s?)\s+"
    r"(?:(?:transition(?:al)?\s+)?period\s+)?(?:that\s+)?(?:end(?:ed|ing)|to|through)(?:\s+on)?(?:\s+the\s+end\s+of)?\s*$",
    re.I,
)
_MONTHS_OF = {"month": 1, "quarter": 3, "half year": 6, "year": 12}
_WEEKS = ((11, 17, 3), (22, 29, 6), (34, 41, 9), (51, 54, 12))
"""(fewest weeks, most weeks, months): retailers count periods in weeks."""
_MONTH_ENDS = (
    re.compile(
        r"\b(?:(?:end|close)\s+of|end(?:ed|ing)(?:\s+in)?|as\s+(?:of|at)|at|(?:viewed|seen|looking\s+out)\s+from)\s+"
        rf"{_MONTH}\s*+,?\s*+{_YEAR}\b",
        re.I,
    ),
    re.compile(rf"\b{_MONTH}\s*+{_YEAR}\s+(?P<three>quarter)\b", re.I),
    re.compile(rf"\b{_MONTH}\s*+{_YEAR}(?=\s+(?:10-?[KQ]\b|(?:annual|quarterly|interim)\s+(?:report|filing)))", re.I),
    re.compile(rf"\bmid[\s-]?{_YEAR}\b", re.I),
)
"""A month's name that stands for its last day."""
_YEAR_TO_DATE = re.compile(
    rf"\b(?:first\s+)?(?P<months>3|6|9|three|(?a:six|nine))[\s-]+months?(?:\s+period)?(?:{_OF}|\s+end(?:ed|ing)\s+(?:in\s+)?(?:fiscal\s+|FY\s*)?)"
    rf"{_SHORT_YEAR}\b",
    re.I,
)
_HALF_YEAR = re.compile(
    r"\b(?:(?:first|1st)[\s-]+half|H1|1H|(?P<second>(?:second|2nd)[\s-]+half|H2|2H))"
    rf"(?:{_OF}|\s*+of\s++(?:the\s++)?(?:fiscal\s++)?(?:year\s++)?){_SHORT_YEAR}\b",
    re.I,
)
_NAMES = (
    re.compile(
        r"\b(?:Section|Model|Series|Rule|ASC|ASU|Class of|Vision|Strategy|Agenda)\s(?:19|20)\d\d\b|"
        r"\b(?:19|20)\d\d\s(?:[\w.%&-]+\s){0,4}(?:Plan|Program(?:me)?|Act|Agreement)\b"
    ),
    re.compile(
        r"\b(?:notes?|bonds?|debentures?|loans?)\s(?:\w+\s){0,2}due\s(?:19|20)\d\d\b|"
        r"\b(?:(?:19|20)\d\d\s(?:and\s)?){1,3}(?:(?:senior|convertible|exchangeable|subordinated|secured|unsecured|"
        r"term)\s){0,3}(?:notes?|bonds?|debentures?|warrants?|convertibles?|targets?|net-zero)\b",
        re.I,
    ),
)
"""Years in the names of things: "the 2018 Equity Incentive Plan", "notes due 2029"."""
_EARLIEST, _LATEST = 1985, 2100
_LONGEST_SPAN = 30
"""Most years between the first and the last of a span."""
_NEAR = 40
"""Characters before a date that are searched for what belongs to it."""


def periods_in(text: str) -> tuple[Period, ...]:
    """The periods that ``text`` names, in reading order, each once."""
    return tuple(dict.fromkeys(period for _, _, period in period_spans(text)))


def period_spans(text: str) -> tuple[tuple[int, int, Period], ...]:
    """(start, end, period) for each period that ``text`` names, in reading order.

    A span of years ("FY2017 - FY2019") yields each of its years. The most specific pattern wins: a date is not also a
    year.
    """
    reading = _Reading(text)
    for pattern in _NAMES:
        reading.rest = blanked(reading.rest, [match.span() for match in pattern.finditer(reading.rest)])
    for pattern in _DATES:
        for match in pattern.finditer(reading.rest):
            reading.take_date(match)
    for pattern in _MONTH_ENDS:
        for match in pattern.finditer(reading.rest):
            reading.take_month_end(match)
    for pattern, periods_of in _WITHOUT_DATE:
        for match in pattern.finditer(reading.rest):
            if (year := _year(match)) is not None:
                reading.take_part(match, periods_of(match, year))
    return tuple(sorted(reading.found, key=lambda span: span[0]))


class _Reading:
    """The periods found so far; ``rest`` is the text with the words that name them blanked."""

    def __init__(self, text: str) -> None:
        self.rest = text
        self.found: list[tuple[int, int, Period]] = []

    def take(self, match: re.Match[str], *periods: Period) -> None:
        """Add the periods that ``match`` names, and blank its words if there are any."""
        if periods:
            self.found += ((*match.span(), period) for period in periods)
            self.rest = blanked(self.rest, [match.span()])

    def take_part(self, match: re.Match[str], periods: list[Period]) -> None:
        """Take periods, and if the last is a part of a year, the same part of the years listed after it."""
        self.take(match, *periods)
        if not periods or periods[-1].part in (None, "FY"):
            return
        at = match.end()
        while (other := _SAME_PART.match(self.rest, at)) is not None:
            self.take(other, replace(periods[-1], year=int(other["year"])))
            at = other.end()

    def take_date(self, match: re.Match[str]) -> None:
        """Take a date, the same day of the years listed after it, and a day of the same year before it."""
        if (day := _date(match, int(match["year"]))) is None:
            return
        months = self.months_ended(match.start())
        self.take(match, _on(day, months))
        at = match.end()
        while (other := _SAME_DAY.match(self.rest, at)) is not None:
            same = day.replace(day=min(day.day, 28) if day.month == 2 else day.day, year=int(other["year"]))
            self.take(other, _on(same, months))
            at = other.end()
        before = match.start()
        other = _SAME_YEAR.search(self.rest, max(0, before - _NEAR), before) if match.re is _DATES[0] else None
        if other is not None and (earlier := _date(other, day.year)) is not None:
            self.take(other, _on(earlier, self.months_ended(other.start()) or months))

    def take_month_end(self, match: re.Match[str]) -> None:
        """Take the last day of a month, or of June for the middle of a year."""
        if (year := _year(match)) is None:
            return
        groups = match.groupdict()
        month = MONTHS[groups["month"].lower()] if "month" in groups else 6
        months = 3 if groups.get("three") else self.months_ended(match.start("month" if "month" in groups else 0))
        self.take(match, _on(dt.date(year, month, calendar.monthrange(year, month)[1]), months))

    def months_ended(self, date: int) -> int | None:
        """Length in months of the period that ends with the date at position ``date``; None if unstated."""
        match = _MONTHS_ENDED.search(self.rest[max(0, date - _NEAR) : date])
        if match is None:
            return None
        if match["one"]:
            return _MONTHS_OF[re.sub(r"[\s-]+", " ", match["one"].lower())]
        count = number_of(match["count"])
        if match["each"].lower() != "week":
            return count * _MONTHS_OF[match["each"].lower()]
        return next((months for least, most, months in _WEEKS if least <= count <= most), None)


def _to_date(match: re.Match[str], year: int) -> list[Period]:
    months = number_of(match["months"])
    return [Period(year, _part(months // 3), months=months if months > 3 else None)]


def _quarter(match: re.Match[str], year: int) -> list[Period]:
    return [Period(year, _part(ORDINALS.get(match["quarter"].lower()) or int(match["quarter"])))]


def _span(match: re.Match[str], first: int) -> list[Period]:
    """Each year of a span; none for two-digit numbers without "FY", which may be anything."""
    last = _year(match, "last")
    plain = all(len(digits) == 4 for digits in match.groups()) or "F" in match.group().upper()
    if last is None or not plain or not 0 < last - first <= _LONGEST_SPAN:
        return []
    return [Period(year, "FY") for year in range(first, last + 1)]


_WITHOUT_DATE: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], int], list[Period]]], ...]] = (
    (_YEAR_TO_DATE, _to_date),
    (_HALF_YEAR, lambda match, year: [Period(year, "Q4" if match["second"] else "Q2", months=6)]),
    *((pattern, _quarter) for pattern in _QUARTERS),
    (_SPAN, _span),
    *((pattern, lambda _, year: [Period(year, "FY")]) for pattern in _FISCAL_YEARS),
    (_BARE_YEAR, lambda _, year: [Period(year)]),
)
"""Patterns of periods without a date, most specific first; the words of a match are blanked before the next pattern."""


def last_years_in(text: str) -> int | None:
    """``n`` of "the last n years"; None if ``text`` has no such phrase."""
    match = _LAST_YEARS.search(text)
    return None if match is None else number_of(next(filter(None, match.groups())))


def last_years_span(text: str) -> tuple[int, int] | None:
    """Where ``text`` has its phrase "the last n years"; None if it has none."""
    match = _LAST_YEARS.search(text)
    return None if match is None else match.span()


def _on(day: dt.date, months: int | None) -> Period:
    return Period(day.year, None, day, months)


def _part(quarter: int) -> FiscalPeriod:
    return cast(FiscalPeriod, f"Q{quarter}")


def _year(match: re.Match[str], group: str = "year") -> int | None:
    """The year in ``group``, with its century; None if it is not a likely one."""
    year = int(match[group])
    if len(match[group]) == 2:
        year += 2000 if year < 70 else 1900
    return year if _EARLIEST <= year <= _LATEST else None


def _date(match: re.Match[str], year: int) -> dt.date | None:
    month = match["month"].lower()
    try:
        return dt.date(year, MONTHS.get(month) or int(month), int(match["day"]))
    except ValueError:  # February 31: leave the words for the other patterns
        return None

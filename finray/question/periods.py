"""Finds fiscal years, quarters, dates and spans of years in a question."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import cast

from finray.core.period import Period
from finray.core.types import FiscalPeriod
from finray.core.vocabulary import COUNT, MONTH, MONTHS, ORDINAL, ORDINALS, number_of

_MONTH = rf"({MONTH})\.?"
_YEAR = r"((?:19|20)\d\d)"
_SHORT_YEAR = r"['’]?((?:19|20)?\d\d)"
_ORDINAL = f"({ORDINAL})"
_OF = r"(?>(?:\s*+(?:(?:of|in|for|the|fiscal|year)\b|[,/'’-]))*)\s*+(?:fy\s*+)?"

_DATES = (
    re.compile(rf"\b{_MONTH}\s++(\d{{1,2}})(?:st|nd|rd|th)?\s*+(?:,\s*+)?{_YEAR}\b", re.I),
    re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s++(?:of\s++)?{_MONTH}\s*+(?:,\s*+)?{_YEAR}\b", re.I),
    re.compile(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)\b"),
)
_SAME_DAY = re.compile(
    r"\s*+(?:(?:,\s*+)?(?:and|&|to|or|versus|vs\.?|compared (?:to|with))|,)\s++(?:in\s++)?((?:19|20)\d\d)\b", re.I
)
"""A second year after a date: "December 31, 2019 and 2018"."""
_SAME_YEAR = re.compile(
    rf"\b{_MONTH}\s++(\d{{1,2}})(?:st|nd|rd|th)?\s*+(?:,\s*+)?(?:and|&|to|or|versus|vs\.?)\s++$", re.I
)
"""A day before a date: "April 27 and January 26, 2019"."""
_QUARTERS = (
    re.compile(rf"\bQ\s*([1-4]){_OF}{_SHORT_YEAR}\b", re.I),
    re.compile(rf"(?:\b(?:(?:FY|fiscal(?: year)?)\s*+)?|(?<=\w\s)){_SHORT_YEAR}\s*+(?:-\s*+)?Q\s*+([1-4])\b", re.I),
    re.compile(rf"\b{_ORDINAL}\s+(?:fiscal\s+)?quarter{_OF}{_SHORT_YEAR}\b", re.I),
    re.compile(rf"\b([1-4])Q\s*{_SHORT_YEAR}\b", re.I),
    re.compile(rf"\b(?:FY|fiscal(?: year)?)\s*{_SHORT_YEAR}['’]?s?\s+{_ORDINAL}\s+(?:fiscal\s+)?quarter\b", re.I),
)
_FISCAL_YEARS = (
    re.compile(rf"\b(?:FY|fiscal(?:\s++years?)?)\s*+(?:-\s*+)?{_SHORT_YEAR}\b", re.I),
    re.compile(r"\bF(\d\d)\b"),
    re.compile(rf"\b(?:full[- ]year|annual(?:ly)?(?: report)?|10-?K)(?:\s+(?:for|of|in))?\s+{_YEAR}\b", re.I),
    re.compile(rf"\b{_YEAR}\s+(?:fiscal\s+year|full[- ]year|annual|10-?K)\b", re.I),
)
_BARE_YEAR = re.compile(rf"(?<![\d.,$/-]){_YEAR}(?![\d%]|[.,]\d)")
_SPAN = re.compile(
    rf"(?:\b(?:(?:FY|fiscal(?: year)?)\s*+)?|(?<=\w\s)){_SHORT_YEAR}\s*+(?:-|–|—|to|through|until|thru)\s*+"
    rf"(?:(?:FY|fiscal(?: year)?)\s*+)?{_SHORT_YEAR}\b",
    re.I,
)
_N = f"({COUNT})"
_YEARS = r"(?:fiscal\s+|full\s+)?years?"
_LAST_YEARS = re.compile(
    rf"\b(?:last|past|previous|most recent|prior|latest|over)\s+(?:the\s+)?(?:last\s+|past\s+)?{_N}\s+{_YEARS}\b"
    rf"|\b{_N}(?:\s+{_YEARS}|[- ]year\s+(?:period|span|stretch|window))\s+(?:that\s+)?"
    r"(?:end(?:ed|ing)|through|up to|to)\b",
    re.I,
)
_MONTHS_ENDED = re.compile(
    rf"\b(?:({COUNT})[\s-]+months?|(years?)|(quarters?))\s+(?:period\s+)?(?:that\s+)?"
    r"end(?:ed|ing)(?:\s+on)?\s*$",
    re.I,
)
_YEAR_TO_DATE = re.compile(
    rf"\b(?:first\s+)?(3|6|9|three|six|nine)[\s-]+months?(?:\s+period)?(?:{_OF}|\s+end(?:ed|ing)\s+(?:in\s+)?(?:fiscal\s+|FY\s*)?)"
    rf"{_SHORT_YEAR}\b",
    re.I,
)
_EARLIEST, _LATEST = 1985, 2100
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
    reading.read_dates()
    for match, period in _matches(reading):
        reading.take(match, *period)
    return tuple(sorted(reading.found, key=lambda span: span[0]))


class _Reading:
    """The periods found so far; ``rest`` is the text with the words that name them blanked."""

    def __init__(self, text: str) -> None:
        self.rest = text
        self.found: list[tuple[int, int, Period]] = []

    def take(self, match: re.Match[str], *periods: Period) -> None:
        start, end = match.span()
        self.found += ((start, end, period) for period in periods)
        self.rest = self.rest[:start] + " " * (end - start) + self.rest[end:]

    def read_dates(self) -> None:
        for order, pattern in enumerate(_DATES):
            for match in pattern.finditer(self.rest):
                day = _date(match, order)
                if day is not None:
                    months = self._months_ended(match.start())
                    self.take(match, _on(day, months))
                    self._take_same_day(match.end(), day, months)
                    if order == 0:
                        self._take_same_year(match.start(), day, months)

    def _take_same_day(self, at: int, day: dt.date, months: int | None) -> None:
        """Further years of one day: "December 31, 2019 and 2018"."""
        while (match := _SAME_DAY.match(self.rest, at)) is not None:
            other = day.replace(day=min(day.day, 28) if day.month == 2 else day.day, year=int(match.group(1)))
            self.take(match, _on(other, months))
            at = match.end()

    def _take_same_year(self, before: int, day: dt.date, months: int | None) -> None:
        """An earlier day that shares the year: "April 27 and January 26, 2019"."""
        match = _SAME_YEAR.search(self.rest, max(0, before - _NEAR), before)
        if match is None:
            return
        try:
            other = dt.date(day.year, MONTHS[match.group(1).lower()], int(match.group(2)))
        except ValueError:
            return
        self.take(match, _on(other, self._months_ended(match.start()) or months))

    def _months_ended(self, at: int) -> int | None:
        return _months_ended(self.rest[max(0, at - _NEAR) : at])


def _matches(reading: _Reading) -> Iterator[tuple[re.Match[str], list[Period]]]:
    """Matches that name a period without a date, most specific first. The caller blanks each before the next."""
    for match in _YEAR_TO_DATE.finditer(reading.rest):
        months, year = number_of(match.group(1)), _year(match.group(2))
        if year is not None and months in (3, 6, 9):
            part = cast(FiscalPeriod, f"Q{months // 3}")
            yield match, [Period(year, part, months=months if months > 3 else None)]
    for order, pattern in enumerate(_QUARTERS):
        for match in pattern.finditer(reading.rest):
            quarter, digits = (match.group(2), match.group(1)) if order in (1, 4) else match.groups()
            year = _year(digits)
            if year is not None:
                number = ORDINALS.get(quarter.lower()) or int(quarter)
                yield match, [Period(year, cast(FiscalPeriod, f"Q{number}"))]
    for match in _SPAN.finditer(reading.rest):
        first, last = _year(match.group(1)), _year(match.group(2))
        if first is not None and last is not None and 0 < last - first <= 30 and _looks_like_years(match):
            yield match, [Period(year, "FY") for year in range(first, last + 1)]
    for pattern in _FISCAL_YEARS:
        for match in pattern.finditer(reading.rest):
            if (year := _year(match.group(1))) is not None:
                yield match, [Period(year, "FY")]
    for match in _BARE_YEAR.finditer(reading.rest):
        if (year := _year(match.group(1))) is not None:
            yield match, [Period(year)]


def last_years_in(text: str) -> int | None:
    """``n`` of "the last n years"; None if the question has no such phrase."""
    match = _LAST_YEARS.search(text)
    if match is None:
        return None
    return number_of(match.group(1) or match.group(2))


def _on(day: dt.date, months: int | None) -> Period:
    return Period(day.year, None, day, months)


def _months_ended(before: str) -> int | None:
    """Months of the period that ends on the date after ``before``; None if unstated."""
    match = _MONTHS_ENDED.search(before)
    if match is None:
        return None
    return number_of(match.group(1)) if match.group(1) else 12 if match.group(2) else 3


def _looks_like_years(match: re.Match[str]) -> bool:
    return all(len(digits) == 4 for digits in match.groups()) or "F" in match.group().upper()


def _year(digits: str) -> int | None:
    year = int(digits)
    if len(digits) == 2:
        year += 2000 if year < 70 else 1900
    return year if _EARLIEST <= year <= _LATEST else None


def _date(match: re.Match[str], pattern: int) -> dt.date | None:
    first, second, third = match.groups()
    if pattern == 0:
        parts = (int(third), MONTHS[first.lower()], int(second))
    elif pattern == 1:
        parts = (int(third), MONTHS[second.lower()], int(first))
    else:
        parts = (int(first), int(second), int(third))
    try:
        return dt.date(*parts)
    except ValueError:  # February 31 is no date: leave the words for the other patterns
        return None

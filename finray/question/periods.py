"""Fiscal years, quarters, dates and spans of years in the words of a question."""

from __future__ import annotations

import datetime as dt
import re
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
"""A second year behind a date: "December 31, 2019 and 2018"."""
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
"""How far before a date what belongs to it is looked for."""


def periods_in(text: str) -> tuple[Period, ...]:
    """The periods that ``text`` names, in reading order without repeats.

    A span of years ("FY2017 - FY2019") yields each of its years. Each stretch of text is read once, most specific
    pattern first: a date is not also a year.
    """
    found: list[tuple[int, Period]] = []
    rest = text

    def take(match: re.Match[str], *periods: Period) -> None:
        nonlocal rest
        found.extend((match.start(), period) for period in periods)
        rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]

    def take_others(date: re.Match[str], pattern: int, day: dt.date, months: int | None) -> list[tuple[int, Period]]:
        """Dates that share their month and day, or their year, with ``date``."""
        nonlocal rest
        others: list[tuple[int, Period]] = []
        end = date.end()
        while (match := _SAME_DAY.match(rest, end)) is not None:
            others.append(
                (
                    match.start(1),
                    _on(
                        day.replace(day=min(day.day, 28) if day.month == 2 else day.day, year=int(match.group(1))),
                        months,
                    ),
                )
            )
            rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
            end = match.end()
        if pattern == 0 and (match := _SAME_YEAR.search(rest, max(0, date.start() - _NEAR), date.start())) is not None:
            try:
                other = dt.date(day.year, MONTHS[match.group(1).lower()], int(match.group(2)))
            except ValueError:
                return others
            before = rest[max(0, match.start() - _NEAR) : match.start()]
            others.append((match.start(), _on(other, _months_ended(before) or months)))
            rest = rest[: match.start()] + " " * len(match.group()) + rest[match.end() :]
        return others

    for index, pattern in enumerate(_DATES):
        for match in pattern.finditer(rest):
            day = _date(match, index)
            if day is not None:
                months = _months_ended(rest[max(0, match.start() - _NEAR) : match.start()])
                take(match, Period(day.year, None, day, months))
                found.extend(take_others(match, index, day, months))
    for match in _YEAR_TO_DATE.finditer(rest):
        months, year = number_of(match.group(1)), _year(match.group(2))
        if year is not None and months in (3, 6, 9):
            part = cast(FiscalPeriod, f"Q{months // 3}")
            take(match, Period(year, part, months=months if months > 3 else None))
    for index, pattern in enumerate(_QUARTERS):
        for match in pattern.finditer(rest):
            quarter, digits = (match.group(2), match.group(1)) if index in (1, 4) else match.groups()
            year = _year(digits)
            if year is not None:
                number = ORDINALS.get(quarter.lower()) or int(quarter)
                take(match, Period(year, cast(FiscalPeriod, f"Q{number}")))
    for match in _SPAN.finditer(rest):
        first, last = _year(match.group(1)), _year(match.group(2))
        if first is not None and last is not None and 0 < last - first <= 30 and _looks_like_years(match):
            take(match, *(Period(year, "FY") for year in range(first, last + 1)))
    for pattern in _FISCAL_YEARS:
        for match in pattern.finditer(rest):
            year = _year(match.group(1))
            if year is not None:
                take(match, Period(year, "FY"))
    for match in _BARE_YEAR.finditer(rest):
        year = _year(match.group(1))
        if year is not None:
            take(match, Period(year))
    unique: dict[Period, None] = {}
    for _, period in sorted(found, key=lambda item: item[0]):
        unique.setdefault(period)
    return tuple(unique)


def last_years_in(text: str) -> int | None:
    """``n`` of "the last n years", None where the question has no such phrase."""
    match = _LAST_YEARS.search(text)
    if match is None:
        return None
    return number_of(match.group(1) or match.group(2))


def _on(day: dt.date, months: int | None) -> Period:
    return Period(day.year, None, day, months)


def _months_ended(before: str) -> int | None:
    """Length of the period that the date behind ``before`` closes, where the words say it."""
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
    except ValueError:  # the 31st of February is no date: leave the words for the other patterns
        return None

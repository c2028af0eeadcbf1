"""Writes out one by one periods that share words ("Q1 and Q2 of 2021", "three and nine months ended June 30, 2022"),
and those given by their first and last day."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from finray.core.vocabulary import MONTH, MONTHS, ORDINAL, ORDINALS, YEAR
from finray.filings.dates import months_between


def _day_pattern(side: str = "") -> str:
    """A pattern of a day with or without its year, in groups whose names begin with ``side``."""
    ending = r"(?:st|nd|rd|th)?"
    american = rf"(?P<{side}month>{MONTH})\.?\s(?P<{side}day>\d{{1,2}}){ending}(?:,?\s(?P<{side}year>{YEAR}))?"
    european = (
        rf"(?P<{side}day2>\d{{1,2}}){ending}\s(?:of\s)?(?P<{side}month2>{MONTH})\.?(?:,?\s(?P<{side}year2>{YEAR}))?"
    )
    return rf"(?:{american}|{european}|(?P<{side}iso>\d{{4}}-\d\d-\d\d))"


_TO = r"\s?(?:to|through|until|thru|-|–|—)\s?"
_FROM_TO: Final = re.compile(rf"\b(?:from\s)?{_day_pattern('from_')}{_TO}{_day_pattern('to_')}", re.I)
_MONTH_TO_MONTH: Final = re.compile(
    rf"\b(?:from\s)?(?P<first>{MONTH})\.?{_TO}(?P<last>{MONTH})\.?(?:\squarter)?(?:\sof)?,?\s(?P<year>{YEAR})\b", re.I
)
_SPELLED = r"three|six|nine|twelve|thirteen|\d{1,2}"
_LENGTHS: Final = re.compile(
    rf"\b(?<![-\d])(?P<one>{_SPELLED})[\s-](?:(?:months?|weeks?)[\s-])?(?:and|&|or)\s(?:the\s)?(?P<other>{_SPELLED})[\s-](?P<unit>month|week)s?"
    rf"(?:[\s-]periods?)?\s(?P<end>(?:ended|ending|to)\s{_day_pattern()})",
    re.I,
)
_YEAR = rf"(?P<of>[\s,]{{0,2}}(?:of\s)?(?:(?:fiscal|calendar)\s(?:year\s)?|FY\s?)?['’]?(?P<year>{YEAR}|\d\d)\b)"
_QUARTERS: Final = re.compile(
    rf"\b(?P<first>Q[1-4]|H[12]|[1-4]Q|[12]H)(?P<more>(?:\s?(?:,|and|&|\+|-|–|to|through|versus|vs\.?|,\sand|and\salso)\s?(?:Q[1-4]|H[12]|[1-4]Q|[12]H)){{1,3}})"
    rf"{_YEAR}",
    re.I,
)
_ORDINALS: Final = re.compile(
    rf"\b(?P<first>{ORDINAL})(?P<more>(?:\s?(?:,|and|&|,\sand|to|through)\s(?:the\s)?{ORDINAL}){{1,3}})\s(?:fiscal\s)?(?P<unit>quarters?|hal(?:f|ves)){_YEAR}",
    re.I,
)
_NUMBERED: Final = re.compile(rf"\bquarters\s(?P<first>[1-4])(?P<more>(?:\s?(?:,|and|&)\s?[1-4]){{1,3}}){_YEAR}", re.I)
_EACH: Final = re.compile(rf"\b(?:each|every|all\sfour|the\sfour)\s(?:fiscal\s)?quarters?{_YEAR}", re.I)
_YEARS: Final = re.compile(rf"\b(?P<first>{YEAR})\s?[-–]\s?(?P<last>\d\d)\b(?![-/.\d])")
_SHORT_YEARS: Final = re.compile(r"\bF(?:Y)?['’]?(?P<first>\d\d)\s?(?:-|–|to|through)\s?F(?:Y)?['’]?(?P<last>\d\d)\b")
_LISTED_YEARS: Final = re.compile(rf"\b{YEAR}(?:/{YEAR}){{1,4}}\b")
_BARE_YEARS: Final = re.compile(r"(?<!\w)['’](?P<first>\d\d)\s(?P<and>and|to|vs\.?|versus)\s['’](?P<last>\d\d)\b")
_RANGE: Final = re.compile(r"-|–|\bthrough\b", re.I)
"""Not "to": a change "from Q1 to Q3 2022" is between two."""
_LONGEST_MONTHS = 13
_PERIOD: Final = re.compile(r"\bperiod\s*\Z|\b(?:through|thru)\b", re.I)
"""Before or between two days that begin and end a period: "from December 31 to June 30" are two balances."""
_NEAR = 12
_MOST_YEARS = 15
"""Most years between the first and the last of a span."""


def separate_quarters(text: str) -> str:
    """``text`` with each quarter of a list in words named in full: "Q1 2023, Q2 2023" for "first and second quarters of
    2023"."""
    for pattern, written in _OF_QUARTERS:
        text = pattern.sub(written, text)
    return text


def separate_periods(text: str) -> str:
    """``text``, whose shorthand is written out, with each period named in full."""
    for pattern, written in _RULES:
        text = pattern.sub(written, text)
    return text


def _lasting(match: re.Match[str]) -> str:
    """The months that end with the second day; the text as it is if it names no period."""
    last = _day(match, "to_", None)
    first = _day(match, "from_", last)
    if first is None or last is None or first >= last:
        return match.group()
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    months = months_between(first, last)
    if months > _LONGEST_MONTHS or not (first.day == 1 or _PERIOD.search(before) or _PERIOD.search(match.group())):
        return match.group()
    return f"{months} months ended {last.isoformat()}"


def _months_between(match: re.Match[str]) -> str:
    """The months that end with the second one; the text as it is if they are not quarters."""
    months = MONTHS[match["last"].lower()] - MONTHS[match["first"].lower()] + 1
    whole = months in (3, 6, 9, 12)
    return f"{months} months ended the end of {match['last']} {match['year']}" if whole else match.group()


def _day(match: re.Match[str], side: str, other: dt.date | None) -> dt.date | None:
    """The day in the groups of ``side``, in the year of the ``other`` day if it has none of its own."""
    iso = match[f"{side}iso"]
    if iso is None:
        month, day, year = (match[f"{side}{part}"] or match[f"{side}{part}2"] for part in ("month", "day", "year"))
        number = int(year) if year else other.year if other is not None else None
        if number is None:
            return None
        iso = f"{number}-{MONTHS[month.lower()]:02}-{int(day):02}"
    try:
        return dt.date.fromisoformat(iso)
    except ValueError:
        return None


def _each_length(match: re.Match[str]) -> str:
    end = f"{match['unit']}s {match['end']}"
    return f"{match['one']} {end} and {match['other']} {end}"


def _each_quarter(match: re.Match[str]) -> str:
    letter_first = re.sub(r"\b([1-4])([QH])\b", r"\2\1", match.group(), flags=re.I)
    found = [part.upper() for part in re.findall(r"[QH][1-4]", letter_first, re.I)]
    letter = found[0][0]
    if all(part[0] == letter for part in found):
        found = [f"{letter}{number}" for number in _filled([int(part[1]) for part in found], match)]
    return _each_of_year(found, match)


def _each_ordinal(match: re.Match[str]) -> str:
    letter = "Q" if match["unit"].lower().startswith("q") else "H"
    numbers = [ORDINALS[word.lower()] for word in re.findall(ORDINAL, f"{match['first']} {match['more']}", re.I)]
    return _each_of_year((f"{letter}{number}" for number in _filled(numbers, match)), match)


def _each_number(match: re.Match[str]) -> str:
    return _each_of_year((f"Q{number}" for number in re.findall(r"[1-4]", match["first"] + match["more"])), match)


def _filled(numbers: Sequence[int], match: re.Match[str]) -> Sequence[int]:
    """``numbers``, and those between if they are the first and the last of a range."""
    is_range = len(numbers) == 2 and numbers[0] <= numbers[1] and _RANGE.search(match["more"]) is not None
    return range(numbers[0], numbers[1] + 1) if is_range else numbers


def _each_of_year(parts: Iterable[str], match: re.Match[str]) -> str:
    return ", ".join(f"{part} {_full(match['year'])}" for part in parts)


def _full(year: str) -> str:
    return year if len(year) == 4 else f"20{year}"


def _span_of_years(match: re.Match[str]) -> str:
    """The years from the first to the last; two consecutive ones stay: "2021-22" may be one fiscal year."""
    first = int(_full(match["first"]))
    last = first - first % 100 + int(match["last"])
    return f"FY{first} to FY{last}" if 1 < last - first <= _MOST_YEARS else match.group()


_OF_QUARTERS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (_ORDINALS, _each_ordinal),
    (_NUMBERED, _each_number),
    (_EACH, lambda match: _each_of_year(("Q1", "Q2", "Q3", "Q4"), match)),
)
_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (_FROM_TO, _lasting),
    (_MONTH_TO_MONTH, _months_between),
    (_LENGTHS, _each_length),
    (_QUARTERS, _each_quarter),
    (_SHORT_YEARS, lambda match: f"FY20{match['first']} to FY20{match['last']}"),
    (_YEARS, _span_of_years),
    (_LISTED_YEARS, lambda match: match.group().replace("/", ", ")),
    (_BARE_YEARS, lambda match: f"20{match['first']} {match['and']} 20{match['last']}"),
)

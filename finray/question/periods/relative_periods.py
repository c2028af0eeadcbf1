"""Periods that are named by another one: "the year before", "the same quarter a year earlier", "Q2" without a year."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, cast

from finray.core.filing import FiscalPeriod
from finray.core.period import Period
from finray.core.vocabulary import COUNT, MONTH, ORDINAL, ORDINALS, number_of
from finray.question.periods.named import period_spans
from finray.question.words import blanked

_BACK = r"(?:before|earlier|prior|previously)"
_ON = r"(?:after(?:wards)?|later)"
_UNIT = r"(?P<unit>year|quarter)s?"
_OPEN = re.compile(
    r"\b(?:(?:last|this|current) (?:fiscal )?(?:year|quarter|month|half)|"
    r"(?:the )?(?:last|past|next|other) (?:few |several )?"
    r"(?:years|quarters|months)|ago|today|yesterday|tomorrow|"
    r"(?:year|month|quarter)[- ]to[- ]date|ytd|recently|historically|other years?|"
    r"(?:first|second|1st|2nd) half|H[12]|(?:every|each) year|annually)\b|"
    rf"\b(?:in|of|at|by|through|ended|ending|(?<!\w)as of)\s+{MONTH}\b(?!\s+\d)",
    re.I,
)
"""Periods that depend on the day of asking, or that leave open which is meant."""
_LATEST = re.compile(
    r"\b(?:the |its )?(?:latest|newest|most recent)"
    r"(?: (?:fiscal )?(?:year|period)| (?:10-?K|annual report|filing|one))?\b",
    re.I,
)
_SAME = re.compile(r"\b(?:(?:that|the same|this same|same) (?:fiscal )?(?:year|quarter|period)|back then)\b", re.I)
_SHIFTS = (
    (re.compile(rf"\b(?P<count>an?|{COUNT}) (?:fiscal )?{_UNIT} {_BACK}(?: that| it)?\b", re.I), -1),
    (re.compile(rf"\b(?P<count>an?|{COUNT}) (?:fiscal )?{_UNIT} {_ON}(?: that| it)?\b", re.I), 1),
    (re.compile(rf"\b(?:the )?(?:fiscal )?{_UNIT} {_BACK}(?: that| it)?\b", re.I), -1),
    (re.compile(rf"\b(?:the )?(?:fiscal )?{_UNIT} {_ON}(?: that| it)?\b", re.I), 1),
    (re.compile(rf"\b(?:the )?(?:previous|prior|preceding)[ -](?:fiscal )?{_UNIT}\b", re.I), -1),
    (re.compile(rf"\b(?:the )?(?:next|following|subsequent) (?:fiscal )?{_UNIT}\b", re.I), 1),
    (re.compile(rf"\b(?:the )?{_UNIT}-ago(?: (?:quarter|period|year))?\b", re.I), -1),
)
_PART = re.compile(
    rf"\b(?:(?:the )?(?P<ordinal>{ORDINAL}) (?:fiscal )?quarter|Q(?P<number>[1-4])|(?P<digit>[1-4])Q|"
    r"(?:the )?(?P<full>(?:full|whole|entire)[- ](?:fiscal )?year))\b",
    re.I,
)
_COMPARED = re.compile(r"\b(?:than|and|with|against|versus|vs\.?|to)\s{1,3}$", re.I)
_CLOSES = re.compile(r"\s{0,3}(?:[?.,;:!)]|$)")
"""A counted period stands between these if it is compared with one before: "ten years before the merger" does not."""
_NEAR = 12


@dataclass(frozen=True, slots=True)
class Relative:
    """``text[start:end]`` names a period by another one: ``count`` units later, or its ``part``. "open" leaves open
    which period is meant, "latest" means the newest that there is."""

    start: int
    end: int
    kind: Literal["years", "quarters", "part", "same", "latest", "open"]
    count: int = 0
    part: FiscalPeriod | None = None


def relative_periods(text: str) -> tuple[Relative, ...]:
    """The relative periods of ``text``, in reading order. Blank periods that name their year first."""
    found: list[Relative] = []
    for pattern, read in _PATTERNS:
        matches = list(pattern.finditer(text))
        found += map(read, matches)
        text = blanked(text, [match.span() for match in matches])
    return tuple(sorted(found, key=lambda each: each.start))


def counted_from(relatives: Sequence[Relative], period: Period) -> Period | None:
    """``period`` moved by each of ``relatives``; None if one does not apply, such as a quarter before a full year."""
    moved: Period | None = period
    for each in relatives:
        if moved is None:
            return None
        match each.kind:
            case "years":
                moved = moved.years_before(-each.count) if 1 < moved.year + each.count < 9999 else None
            case "quarters":
                moved = _quarters_later(moved, each.count)
            case "part":
                moved = Period(moved.year, each.part)
            case "open" | "latest":
                moved = None
    return moved


def with_counted(text: str) -> tuple[Period, ...]:
    """The periods that ``text`` names, and those that are compared with them by counting: "in 2016 than two years
    earlier". A single year before is left out: comparisons read it from the next column."""
    spans = period_spans(text)
    found = [period for _, _, period in spans]
    for relative in relative_periods(blanked(text, [(start, end) for start, end, _ in spans])):
        before = [period for _, end, period in spans if end <= relative.start]
        compared = _COMPARED.search(text, max(0, relative.start - _NEAR), relative.start)
        if abs(relative.count) < 2 or not before or compared is None or not _CLOSES.match(text, relative.end):
            continue
        if (moved := counted_from([relative], before[-1])) is not None:
            found.append(moved)
    return tuple(dict.fromkeys(found))


def in_words(period: Period) -> str:
    """``period`` as a question names it. The length of a period that ends on a day is left out."""
    if period.date is not None:
        return f"{period.date:%B} {period.date.day}, {period.date.year}"
    if period.months is not None:
        return f"the first {period.months} months of fiscal {period.year}"
    if period.part is None:
        return str(period.year)
    return f"fiscal {period.year}" if period.part == "FY" else f"{period.part} {period.year}"


def _quarters_later(period: Period, count: int) -> Period | None:
    if period.part is None or period.part == "FY" or period.months is not None:
        return None
    years, quarter = divmod(int(period.part[1]) - 1 + count, 4)
    return replace(period, year=period.year + years, part=cast(FiscalPeriod, f"Q{quarter + 1}"))


def _shift(sign: int, match: re.Match[str]) -> Relative:
    counted = match.groupdict().get("count")
    count = 1 if counted is None or counted.lower() in ("a", "an") else number_of(counted)
    unit: Literal["years", "quarters"] = "years" if match["unit"].lower() == "year" else "quarters"
    return Relative(*match.span(), unit, sign * count)


def _part(match: re.Match[str]) -> Relative:
    if match["full"]:
        return Relative(*match.span(), "part", part="FY")
    number = ORDINALS[match["ordinal"].lower()] if match["ordinal"] else int(match["number"] or match["digit"])
    return Relative(*match.span(), "part", part=cast(FiscalPeriod, f"Q{number}"))


def _plain(kind: Literal["same", "latest", "open"], match: re.Match[str]) -> Relative:
    return Relative(*match.span(), kind)


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Relative]], ...] = (
    *((pattern, partial(_shift, sign)) for pattern, sign in _SHIFTS),
    (_SAME, partial(_plain, "same")),
    (_LATEST, partial(_plain, "latest")),
    (_OPEN, partial(_plain, "open")),
    (_PART, _part),
)
"""The most specific first; the words of a match are blanked before the next pattern."""

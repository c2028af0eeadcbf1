"""Finds the figures that a sentence states, with their units and the year that each is of.

Years, days of months, and numbers of notes, Items, sections and forms are not figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from finray.core.vocabulary import MONTH, NUMBER, SCALE, SCALES, number_of

Kind = Literal["money", "percent", "per share", "shares", "count"]
KINDS: tuple[Kind, ...] = ("money", "percent", "per share", "shares", "count")

_CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP"}
_DIGITS = r"(?:\d{1,3}(?:,\d{3})++(?:\.\d++)?|\d++(?:\.\d++)?)"
_FIGURE = re.compile(
    rf"(?<![\w.,/:-])(?:(?P<currency>[$€£])\s?)?(?:(?P<digits>{_DIGITS})|(?P<spelled>{NUMBER}\b))"
    rf"(?:(?P<percent>\s?%|[\s-]percent\b)|(?P<cents>\s?(?:cents\b|¢))|[\s-](?P<scale>{SCALE})\b)?",
    re.I,
)
_MONTH_BEFORE = re.compile(rf"\b{MONTH}\.? ?\Z", re.I)
_MONTH_AFTER = re.compile(rf"(?:st|nd|rd|th)?,?\s(?:of )?{MONTH}\b", re.I)
_REFERENCE = re.compile(
    r"\b(?:notes?|items?|pages?|sections?|exhibits?|rules?|parts?|level|tier|topic|class|series|form|asc|asu|sfas|no\.|chapter)"
    r"(?: (?:no\.? )?)?\Z",
    re.I,
)
_IN_A_NAME = re.compile(r"-[A-Z]\b|\([a-z]\)|[a-zA-Z/]|,?\d|:\d")
_YEAR = re.compile(r"(?<![\d$€£,.])(?:19|20)\d\d(?![\d,.]\d|%)")
_A_SHARE = re.compile(r"\s(?:\w+ ){0,3}?(?:per (?:\w+ ){0,3}?(?:share|unit)|a share)\b", re.I)
_SHARES = re.compile(r"\s(?:\w+ ){0,3}?shares\b", re.I)
_RESPECTIVELY = re.compile(r"\brespectively\b", re.I)
_REACH = 40
"""Characters after a figure that may name what it counts."""


@dataclass(frozen=True, slots=True)
class ProseFigure:
    """A figure, ``text[start:end]`` of its sentence.

    ``value`` is in whole units, 12.5 for "12.5%"; ``unit`` as in predictions: "USD", "USD/share", "percent", "shares"
    or "count". ``year`` is the year that the figure is of, if the sentence names one. ``spelled`` means that a percent,
    share count or count is written in words. ``first`` is the start of the first figure in its list of years, else its
    own.
    """

    value: float
    kind: Kind
    unit: str
    start: int
    end: int
    year: int | None
    spelled: bool
    first: int


@lru_cache(maxsize=8192)
def prose_figures(text: str) -> tuple[ProseFigure, ...]:
    """The figures of a sentence, in reading order."""
    found = [figure for match in _FIGURE.finditer(text) if (figure := _figure(text, match)) is not None]
    years = [(match.start(), int(match[0])) for match in _YEAR.finditer(text)]
    if not years:
        return tuple(found)
    aligned = _aligned(found, years) if _RESPECTIVELY.search(text) else {}
    near = ((_nearest(found, at, years), figure.start) for at, figure in enumerate(found))
    placed = (aligned.get(at, other) for at, other in enumerate(near))
    return tuple(replace(figure, year=year, first=first) for figure, (year, first) in zip(found, placed, strict=True))


def _figure(text: str, match: re.Match[str]) -> ProseFigure | None:
    """The figure of a match of ``_FIGURE``; None for a number that is not a figure."""
    start, end = match.span()
    digits, cents = match["digits"], match["cents"]
    marked = match["currency"] or match["percent"] or cents or match["scale"]
    if not marked and (_is_name(text, start, end) or (digits and re.fullmatch(r"(?:19|20)\d\d", digits))):
        return None
    number = Decimal(digits.replace(",", "")) if digits else Decimal(number_of(match["spelled"]))
    value = float(number * SCALES.get((match["scale"] or "").lower(), 1))
    after = text[end : end + _REACH]
    is_money = bool(match["currency"] or cents)
    kind: Kind
    if match["percent"]:
        kind = unit = "percent"
    elif is_money:
        currency = _CURRENCIES[match["currency"] or "$"]
        value = value / 100 if cents else value
        if cents or _A_SHARE.match(after):
            kind, unit = "per share", f"{currency}/share"
        else:
            kind, unit = "money", currency
    else:
        kind = unit = "shares" if _SHARES.match(after) else "count"
    spelled = not digits and (kind == "percent" or not is_money)
    return ProseFigure(value, kind, unit, start, end, year=None, spelled=spelled, first=start)


def _is_name(text: str, start: int, end: int) -> bool:
    """Whether the number is a day of a month, the number of a note or section, or in a name ("10-K", "15(a)")."""
    before, after = text[max(0, start - 14) : start], text[end : end + 16]
    return (
        _MONTH_BEFORE.search(before) is not None
        or _MONTH_AFTER.match(after) is not None
        or _REFERENCE.search(before) is not None
        or _IN_A_NAME.match(after) is not None
    )


def _aligned(found: Sequence[ProseFigure], years: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """(year, start of the list's first figure) of figures listed in the order of ``years``: "$5, $4 and $3 in 2025,
    2024 and 2023, respectively"."""
    result: dict[int, tuple[int, int]] = {}
    if len(years) < 2:
        return result
    for kind in KINDS:
        own = [at for at, figure in enumerate(found) if figure.kind == kind]
        if len(own) % len(years) == 0:
            for place, at in enumerate(own):
                nth = place % len(years)
                result[at] = years[nth][1], found[own[place - nth]].start
    return result


def _nearest(found: Sequence[ProseFigure], at: int, years: Sequence[tuple[int, int]]) -> int:
    """The first year between figure ``at`` and the next one, else the last before it, else the first of all."""
    following = found[at + 1].start if at + 1 < len(found) else math.inf
    after = [year for place, year in years if found[at].end <= place < following]
    before = [year for place, year in years if place < found[at].start]
    return after[0] if after else before[-1] if before else years[0][1]

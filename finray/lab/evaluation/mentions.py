"""Distinguishes the figures of a text from numbers in dates, citations and names.

"In FY2019 (Note 12, p. 60) revenue fell by 3.4%" states one figure. Scores of an answer's text must not count 2019, 12
or 60.
"""

from __future__ import annotations

import re

from finray.core.vocabulary import MONTH
from finray.lab.evaluation.numbers import Found, Number, located_numbers, squeezed, without_citations

_MONTHS = rf"{MONTH}\b\.?"
_YEAR = r"(?:19|20)\d\d"
_DATE = re.compile(
    rf"""
    \b{_MONTHS}\ \d{{1,2}}(?:st|nd|rd|th)?\b (?:,?\ {_YEAR}\b)?
    | \b\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?{_MONTHS} (?:,?\ {_YEAR}\b)?
    | \b{_YEAR}[-/]\d{{1,2}}[-/]\d{{1,2}}\b
    | \b\d{{1,2}}/\d{{1,2}}/(?:{_YEAR}|\d\d)\b
    | \b(?:fy|fiscal(?:\ year)?|cy|calendar\ year|year)\ ?'?(?:{_YEAR}|\d\d)\b (?:[-/–]\d\d\b)?
    | \b(?:{_YEAR}\ ?[-–/]?\ ?)?(?:q[1-4]|[1-4]q)(?:\ ?(?:of\ )?(?:fy)?\ ?'?(?:{_YEAR}|\d\d)\b)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NAMED = (
    r"notes?|items?|tables?|exhibits?|sections?|passages?|sources?|footnotes?|parts?|rule|asc|asu|form|schedule"
    r"|level|class|series|tier|step|chapter"
)
_REFERENCE = re.compile(
    rf"""
    \b(?:{_NAMED})\ (?:no\.\ )?\d+(?:[.\-–]\d+)*[a-z]?\b(?!\ ?%) (?:(?:,\ |\ and\ |,\ and\ )\d+\b(?![.,]?\d|\ ?%))*
    | \[\d+(?:(?:,\ ?|[-–])\d+)*\]
    | \b\d+(?:st|nd|rd|th)\b | \b\d+-[kq]\b | (?<![$€£¥\w.,])(?:10|8)k\b | \b[1-4]q\b | \bs&p\ 500\b | \bcovid-19\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BARE_YEAR = re.compile(
    rf"(?<![\w$€£¥.,(+−-])\(?{_YEAR}(?: ?[-–] ?(?:{_YEAR}|\d\d))?"
    r"(?![\w%]|[.,]\d| ?(?:%|percent\b|million|billion|thousand))"
)
_FALL = re.compile(
    r"\b(?:decreas|declin|fell\b|fall|drop|down\b|reduc|loss|lower|shr[aiu]nk|contract)\w*(?:[ ]\w+){0,3}[ ]?[($]*$",
    re.IGNORECASE,
)
_FALL_REACH = 60


def figures(text: str) -> tuple[Number, ...]:
    """The figures of ``text``: its numbers without citations, dates, periods, years, ordinals and note numbers.

    All numbers if there are no others ("Which year?" - "2019").
    """
    return tuple(found.number for found in _figures(text)[1])


def signed_figures(text: str) -> tuple[Number, ...]:
    """The figures, and those after words of decrease ("decreased by 5.2%") also as negative numbers."""
    line, found = _figures(text)
    falls = [
        one for one in found if one.number.face > 0 and _FALL.search(line[max(0, one.start - _FALL_REACH) : one.start])
    ]
    return (*(one.number for one in found), *(-one.number for one in falls))


def years(text: str) -> frozenset[int]:
    """The years in ``text``, also in dates and fiscal periods: FY2019, December 31, 2019, 2019-2021."""
    line = without_citations(squeezed(text))
    found = [int(year) for year in re.findall(rf"(?<![\d$€£¥.,]){_YEAR}(?!\d|[.,]\d|\ ?(?:%|million|billion))", line)]
    short = re.findall(r"\b(?:FY|Q[1-4] ?|[1-4]Q) ?'?(\d\d)\b(?!\d)", line)
    return frozenset((*found, *(2000 + int(year) for year in short)))


def is_year(number: Number) -> bool:
    return number.factor == 1 and number.places == 0 and 1900 <= number.face <= 2099


def _figures(text: str) -> tuple[str, tuple[Found, ...]]:
    whole = without_citations(squeezed(text))
    line = whole
    for mention in (_DATE, _REFERENCE, _BARE_YEAR):
        line = mention.sub(_blanked, line)
    found = located_numbers(line)
    return (line, found) if found else (whole, located_numbers(whole))


def _blanked(match: re.Match[str]) -> str:
    """Replaces digits by letters, so that the words around keep their place and a dash is not a sign."""
    return re.sub(r"\d", "_", match[0])

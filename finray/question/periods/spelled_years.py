"""Writes years in words as digits: "fiscal twenty-two", "twenty-seventeen", "two thousand and nine"."""

from __future__ import annotations

import re
from typing import Final

from finray.core.vocabulary import NUMBERS, any_of, number_of

_GAP = r"[\s-]+"
_COMPOUNDS: Final = [
    f"{tens} {one}" for tens in NUMBERS if NUMBERS[tens] >= 20 for one in NUMBERS if 0 < NUMBERS[one] < 10
]
_BELOW_100 = any_of([*(word for word in NUMBERS if NUMBERS[word] > 0), *_COMPOUNDS]).replace(r"\ ", _GAP)
_FROM_10 = any_of([*(word for word in NUMBERS if NUMBERS[word] >= 10), *_COMPOUNDS]).replace(r"\ ", _GAP)
_FISCAL = r"(?P<fiscal>(?:fiscal(?:\s+years?)?|FY)[\s-]+)"
_YEAR = re.compile(
    rf"\b(?:two{_GAP}thousand(?:{_GAP}and)?{_GAP}(?P<thousand>{_BELOW_100})|"
    rf"(?P<century>twenty|nineteen){_GAP}(?P<after>{_FROM_10})|"
    rf"{_FISCAL}(?!(?:twenty|nineteen){_GAP}{_FROM_10}\b)(?P<short>{_FROM_10}))"
    r"\b(?![\s-]+(?:percent|hundred|thousand|million|billion)\b)",
    re.I,
)


def digit_years(text: str) -> str:
    """``text`` with its years in digits: "fiscal 2022" for "fiscal twenty-two". Other numbers stay words."""
    return _YEAR.sub(_digits, text)


def _digits(match: re.Match[str]) -> str:
    if (short := match["short"]) is not None:
        return f"{match['fiscal']}{2000 + _number(short)}"
    if (after := match["after"]) is not None:
        return f"{20 if match['century'].lower() == 'twenty' else 19}{_number(after):02}"
    return str(2000 + _number(match["thousand"]))


def _number(words: str) -> int:
    return number_of(re.sub(_GAP, " ", words))

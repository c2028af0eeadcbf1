"""Years in words as digits: "fiscal twenty-two", "twenty-seventeen", "two thousand and nine"."""

from __future__ import annotations

import re
from typing import Final

_ONES: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS: Final = {
    **{word: number for number, word in enumerate((*_ONES, *_TEENS), start=1)},
    **{word: 10 * number for number, word in enumerate(_TENS, start=2)},
    **{f"{tens} {one}": 10 * t + o for t, tens in enumerate(_TENS, start=2) for o, one in enumerate(_ONES, start=1)},
}
_GAP = r"[\s-]+"
_BELOW_100 = "|".join(re.escape(word).replace(r"\ ", _GAP) for word in sorted(_NUMBERS, key=len, reverse=True))
_FROM_10 = "|".join(
    re.escape(word).replace(r"\ ", _GAP)
    for word, number in sorted(_NUMBERS.items(), key=lambda pair: -len(pair[0]))
    if number >= 10
)
_FISCAL = r"(?P<fiscal>(?:fiscal(?:\s+years?)?|FY)[\s-]+)"
_YEAR = re.compile(
    rf"\b(?:two{_GAP}thousand(?:{_GAP}and)?{_GAP}(?P<thousand>{_BELOW_100})|"
    rf"(?P<century>twenty|nineteen){_GAP}(?P<after>{_FROM_10})|"
    rf"{_FISCAL}(?!(?:twenty|nineteen){_GAP}(?:{_FROM_10})\b)(?P<short>{_FROM_10}))"
    r"\b(?![\s-]+(?:percent|hundred|thousand|million|billion)\b)",
    re.I,
)


def digit_years(text: str) -> str:
    """``text`` with its years in digits: "fiscal 2022" for "fiscal twenty-two". Other numbers stay."""
    return _YEAR.sub(_digits, text)


def _digits(match: re.Match[str]) -> str:
    if (short := match["short"]) is not None:
        return f"{match['fiscal']}{2000 + _number(short)}"
    if (after := match["after"]) is not None:
        return f"{20 if match['century'].lower() == 'twenty' else 19}{_number(after):02}"
    return str(2000 + _number(match["thousand"]))


def _number(words: str) -> int:
    return _NUMBERS[re.sub(_GAP, " ", words.lower())]

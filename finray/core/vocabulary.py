"""Words that questions and filings share: months, numbers, ordinals and scales, each with its value and a pattern.

Every word is lower case. Patterns are fragments for larger expressions with ``re.IGNORECASE``; none captures, none
has a boundary at its ends, and longer words come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType


def any_of(words: Iterable[str]) -> str:
    """A pattern of ``words``, the longest first, so that none hides another that it begins.

    It matches ASCII letters only: with ``re.IGNORECASE`` alone "ſep" would match "sep", but is in no table of words.
    """
    return "(?a:" + "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word)))) + ")"


_NAMES = "january february march april may june july august september october november december"
MONTHS: Mapping[str, int] = MappingProxyType(
    {word: number for number, name in enumerate(_NAMES.split(), start=1) for word in (name, name[:3])} | {"sept": 9}
)
"""Names and abbreviations, without a period, and 1 to 12."""
MONTH = any_of(MONTHS)
YEAR = r"(?:19|20)\d\d"

_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
NUMBERS: Mapping[str, int] = MappingProxyType(
    {word: value for value, word in enumerate([*_UNITS, *_TEENS])}
    | {word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)}
)
"""Single words: zero to nineteen, and the tens."""
NUMBER = rf"(?:{any_of(_TENS)}(?:[\s-]?{any_of(_UNITS[1:])})?|{any_of([*_UNITS, *_TEENS])})"
"""Zero to ninety-nine in words; "twenty-six", "twenty six" or "twentysix"."""
COUNT = rf"(?:\d{{1,2}}|{NUMBER})"
"""Zero to ninety-nine in digits or words."""
_COMPOUND = re.compile(rf"({any_of(_TENS)})[\s-]?({any_of(_UNITS[1:])})")

ORDINALS: Mapping[str, int] = MappingProxyType(
    {
        word: number
        for words in (["first", "second", "third", "fourth"], ["1st", "2nd", "3rd", "4th"])
        for number, word in enumerate(words, start=1)
    }
    | {"final": 4, "last": 4}
)
"""Of quarters."""
ORDINAL = any_of(ORDINALS)

SCALES: Mapping[str, int] = MappingProxyType(
    {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
)
SCALE = any_of(SCALES)


def number_of(text: str) -> int:
    """The value of a :data:`COUNT`, in any case. Raises ValueError for anything else."""
    word = text.casefold()
    if word.isdecimal():
        return int(word)
    if match := _COMPOUND.fullmatch(word):
        return NUMBERS[match[1]] + NUMBERS[match[2]]
    if word not in NUMBERS:
        raise ValueError(f"{text!r} is not a number below a hundred, in digits or words")
    return NUMBERS[word]

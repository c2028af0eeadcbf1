"""Arithmetic that a question spells out in words: "the difference between A and B", "A as a percentage of B".

Each reading names its operands in the question's own words; the tables decide which of several readings is right.
Remove periods from the text first: "the change between 2018 and 2019" compares two years of one figure, not two
figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_READINGS = 8
_MAX_SUMMED = 6
"""Most operands of a sum or an average."""
_PART = r"(?:the )?([^?.;]{2,120}?)"
_WHOLE = r"((?:the )?[^?.;]{2,120}?)"
_END = r" ?(?=[?.;]|$)"
_PERCENT = r"(?:%|per ?cent(?:age)?)"
_SHARE_OF = rf"(?:{_PERCENT}(?: (?:constitution|composition|share|proportion))?|proportion|share|fraction)"
_RATIO = re.compile(
    rf"\b(?:ratio|proportion)(?: ?\([^()]*\))? (?:of|between) {_PART} (to|over|and|against|relative to) "
    rf"{_WHOLE}{_END}",
    re.I,
)
_PART_OF_WHOLE = re.compile(
    rf"{_SHARE_OF} (?:of|for) {_PART} (?:among|amongst|out of|over|relative to|against|within|in|from|to|of) "
    rf"(?:the |all )?((?:total|overall|entire|whole|aggregate|all)\b[^?.;]{{1,120}}?){_END}",
    re.I,
)
_WHOLE_THEN_PART = re.compile(
    rf"\b(?:what|how much|which) {_SHARE_OF} of {_WHOLE} "
    r"(?:was|were|is|are|did|do|does|came|come|comes|comprise[sd]?|consist(?:s|ed)?|represent(?:s|ed)?) "
    r"(?:(?:made|taken) up (?:of|by|from)|of|from|(?:comprised|composed) of|represented by|accounted for by|"
    r"(?:attributable|attributed|due|related|allocated|owed) to|(?:contributed|generated|provided) (?:by|from)|"
    rf"derived from)? ?{_PART}"
    r"(?: (?:represent|make up|made up|account(?:ed)? for|constitute|comprise|(?:eat|take|use|swallow) up|absorb|"
    rf"consume)\w*)?{_END}",
    re.I,
)
_PAID_FROM = re.compile(
    rf"\bhow much (?:of )?{_WHOLE} (?:(?:was|were|is|are|has been) (?:(?:paid|handed|given|distributed|eaten|used) "
    rf"(?:out|back|up)|returned|distributed)|went|goes) (?:as|on|by|to|for|in) {_PART}{_END}",
    re.I,
)
"""How much of an income is paid out as something; cash that "was used for" something is an amount."""
_DIFFERENCE = re.compile(
    rf"\b({_PERCENT} )?difference ?(?:\([^()]*\) ?)?(?:(?:in|of|for) (?:the )?([^?.;]{{2,120}}?) )?"
    rf"between ([^?.;]{{3,200}}?){_END}",
    re.I,
)
_EXCEEDS = re.compile(
    r"\b(?:how much|how many|by how much|by how many) (?:(?:more|higher|larger|greater|bigger) )"
    r"(?:(?:was|were|is|are|did|do|does|of) )?([^?.;]{3,120}?) "
    rf"(?:than|(?:as |when )?compared (?:to|with)|versus|vs\.?) ([^?.;]{{2,120}}?){_END}",
    re.I,
)
_SUM = re.compile(
    r"\b(?:sum|combined total|combined amount|combined value|total|aggregate|combined) "
    rf"(?:(?:amount|value|sum) )?(?:of )?(?:the )?([^?.;]{{3,200}}?){_END}",
    re.I,
)
_SUM_OF = re.compile(r"\bsum of\b|\bcombined\b|\baltogether\b|\badded? (?:up|together)\b|\btogether\b", re.I)
_TOGETHER = re.compile(r",? ?\b(?:combined|altogether|together|in total|in aggregate|added (?:up|together))\b", re.I)
_AVERAGE_OF = re.compile(rf"\b(?:average|mean) of (?:the )?([^?.;]{{3,200}}?){_END}", re.I)
_ENTIRE = re.compile(r"\b(?:the|total|overall|entire|whole|aggregate|all)\b", re.I)
_AND = re.compile(r" ?,? (?:and|&|plus) | ?, ", re.I)
_PREPOSITION = re.compile(r" (?:from|in|for|by|of|at) (?:the )?(?!.* (?:from|in|for|by|of|at) )", re.I)


@dataclass(frozen=True, slots=True)
class Reading:
    """``template`` is an expression with {0}, {1}, … for ``operands``; ``percent``: the result is shown in percent."""

    template: str
    operands: tuple[str, ...]
    percent: bool = False


def readings(text: str) -> tuple[Reading, ...]:
    """What ``text``, a question without its periods and companies, may compute; empty if it names a single figure."""
    text = " ".join(text.split())
    found = dict.fromkeys(reading for read in (_shares, _differences, _sums) for reading in read(text))
    return tuple(found)[:MAX_READINGS]


def _shares(text: str) -> Iterator[Reading]:
    asked_percent = re.search(_PERCENT, text, re.I) is not None
    if match := _WHOLE_THEN_PART.search(text):
        yield from _share(match[2], match[1], True)
    if match := _PAID_FROM.search(text):
        yield Reading("{0} / {1}", (match[2], match[1]), True)
    if match := _PART_OF_WHOLE.search(text):
        yield from _share(match[1], match[2], asked_percent)
    if match := _RATIO.search(text):
        yield Reading("{0} / {1}", (match[1], match[3]), asked_percent)


def _share(part: str, whole: str, percent: bool) -> Iterator[Reading]:
    yield Reading("{0} / {1}", (part, whole), percent)
    measure = _ENTIRE.sub("", whole)  # "foreign bonds in the total amortized cost" means their amortized cost
    if measure.strip():
        yield Reading("{0} / {1}", (f"{measure} {part}", whole), percent)


def _differences(text: str) -> Iterator[Reading]:
    if match := _DIFFERENCE.search(text):
        percent, what, pair = match.groups()
        template = "difference({0}, {1})" if percent else "{0} - {1}"
        for first, second in _halves(pair):
            if what:
                yield Reading(template, (f"{what} {first}", f"{what} {second}"), bool(percent))
                continue
            yield Reading(template, (first, second), bool(percent))
            _, *ending = second.split()
            if ending:  # "current and non-current deferred revenue" means current deferred revenue
                yield Reading(template, (f"{first} {' '.join(ending)}", second), bool(percent))
    if match := _EXCEEDS.search(text):
        first, second = match.groups()
        yield Reading("{0} - {1}", (first, second))
        if preposition := _PREPOSITION.search(first):
            yield Reading("{0} - {1}", (first, f"{first[: preposition.end()]}{second}"))


def _sums(text: str) -> Iterator[Reading]:
    if _SUM_OF.search(text) and (match := _SUM.search(_TOGETHER.sub("", text)) or _SUM.search(text)):
        yield from _over_all("{}", " + ", _TOGETHER.sub("", match[1]))
    if match := _AVERAGE_OF.search(text):
        yield from _over_all("mean({})", ", ", match[1])


def _over_all(template: str, sign: str, listed: str) -> Iterator[Reading]:
    """The reading over all the operands ``listed``, joined by ``sign`` inside of ``template``."""
    parts = tuple(part for part in _AND.split(listed) if part)
    if 1 < len(parts) <= _MAX_SUMMED:
        yield Reading(template.format(sign.join(f"{{{n}}}" for n in range(len(parts)))), parts)


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """``text`` split at each "and", the middle ones first, because names of line items contain "and" too."""
    cuts = re.finditer(r" (?:and|versus|vs\.?|to) (?:the )?", text, re.I)
    for match in sorted(cuts, key=lambda cut: abs(cut.start() + cut.end() - len(text))):
        yield text[: match.start()], text[match.end() :]

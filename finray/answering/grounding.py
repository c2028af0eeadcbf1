"""Whether the numbers of an answer stand in its evidence: it rests on what a filing prints, or it guesses."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from finray.core.plan import Found
from finray.core.readable import readable
from finray.core.types import Passage
from finray.core.vocabulary import MONTH
from finray.index.facts import FilingFacts

_PRINTED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")
_IN_A_NAME = re.compile(r"\b(?!USD|EUR|GBP)[A-Za-z]+\d[\w-]*|\b\d+-[A-Za-z]\w*|\bpp?\. ?\d+|\[\d+(?:, ?\d+)*\]")
"""FY2021, Q3, 10-K, p. 12, [3]."""
_REFERENCE = re.compile(
    r"\b(?:notes?|items?|parts?|exhibits?|sections?|tables?|levels?|pages?|schedules?|rules?)\.? "
    r"\(?\d+[a-z]?\b(?!\.\d)|"
    rf"\b{MONTH}\.? \d+,|"
    r"\b100 ?(?:%|percent)|\b\d+[- ](?:days?|weeks?|months?|quarters?|years?)\b",
    re.I,
)
"""Note 4, December 1, 100%, 12 months."""
_CELL_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
_QUOTED = re.compile(r"[“\"]([^“”\"]{20,})[”\"]")

SCALES = frozenset({0, 2, 3, 6, 9})
"""Powers of ten between a number and how it is printed: none, percent, thousands, millions, billions."""
PLAIN = frozenset(
    Decimal(number)
    for number in (0, 1, 2, 3, 4, 10, 12, 52, 100, 360, 365, 366, 1_000, 10_000, 1_000_000, 1_000_000_000)
)
"""What formulas consist of: halves and averages, months, quarters, days, percent, scales."""
_SPELLED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SMALL = 12
"""Whole numbers in prose up to here count things."""


def figures(numbers: Iterable[float], texts: Sequence[str], question: str) -> tuple[float, ...]:
    """Those ``numbers`` that ``texts`` or the question print, at one of ``SCALES``. The constants of formulas, which
    stand everywhere ("12 months", "Note 4"), only where they are printed as numbers of their own."""
    whole = " ".join((*map(readable, texts), readable(question)))
    printed, alone = _forms(whole), _forms(_IN_A_NAME.sub(" ", _REFERENCE.sub(" ", whole)))
    found = []
    for number in numbers:
        if math.isfinite(number):
            exact = Decimal(repr(number))
            if _stands(exact, alone, frozenset({0})) if exact in PLAIN else _stands(exact, printed):
                found.append(number)
    return tuple(found)


def unspelled(numbers: Iterable[float], texts: Sequence[str]) -> tuple[float, ...]:
    """Those ``numbers`` that no word of ``texts`` says, as "three" says 3."""
    words = set(re.findall(r"[a-z]+", " ".join(map(readable, texts)).lower()))
    said = {number for number, word in enumerate(_SPELLED) if word in words}
    return tuple(number for number in numbers if number not in said)


def ungrounded_text(answer: str, texts: Sequence[str], question: str) -> tuple[str, ...]:
    """The numbers and quotations of ``answer`` that ``texts`` do not hold, as ``answer`` prints them."""
    answer, question, *texts = map(readable, (answer, question, *texts))
    printed = _forms(" ".join((*texts, question)))
    found = []
    for face in _PRINTED.findall(_IN_A_NAME.sub(" ", answer)):
        number = _decimal(face)
        counts = number == number.to_integral_value() and number <= _SMALL
        if not counts and number not in PLAIN and not _stands(number, printed):
            found.append(face)
    evidence = _squeezed(" ".join(texts))
    found += [quote for quote in _QUOTED.findall(answer) if _squeezed(quote).rstrip(".,; ") not in evidence]
    return tuple(dict.fromkeys(found))


def prints(text: str, cell: str) -> bool:
    """Whether every figure of ``cell`` stands in ``text``: "$1,234" is printed as "$ 1,234" too. A cell without
    figures, a dash, stands anywhere."""
    return all(
        re.search(rf"(?<![\d.,]){re.escape(figure)}(?!\d|[.,]\d)", text) for figure in _CELL_FIGURE.findall(cell)
    )


def _forms(text: str) -> dict[tuple[int, ...], set[int]]:
    """Of each number in ``text`` the digits without zeros at the end, and the exponents they are printed with."""
    forms: dict[tuple[int, ...], set[int]] = {}
    for face in _PRINTED.findall(text):
        digits, exponent = _form(_decimal(face))
        forms.setdefault(digits, set()).add(exponent)
    return forms


def _stands(number: Decimal, printed: dict[tuple[int, ...], set[int]], scales: frozenset[int] = SCALES) -> bool:
    digits, exponent = _form(number)
    return any(abs(exponent - other) in scales for other in printed.get(digits, ()))


def _form(number: Decimal) -> tuple[tuple[int, ...], int]:
    _, digits, exponent = number.normalize().as_tuple()
    assert isinstance(exponent, int), "no NaN or infinity comes here"
    return digits, exponent


def _decimal(face: str) -> Decimal:
    return Decimal(face.replace(",", "")[:60])


def _squeezed(text: str) -> str:
    return " ".join(text.split()).lower()


def printing(found: Found, passages: Sequence[Passage], facts: FilingFacts) -> Passage | None:
    """The passage that prints the found row: one of ``passages``, else one read from the index."""
    place = (found.filing.filing_id, found.line_item.page)
    at_hand = [p for p in passages if (p.filing_id, p.page) == place]
    passages_there = at_hand or facts.passages_of(*place)
    label = " ".join(found.line_item.label.split())[:30]
    telling = [p for p in passages_there if prints(p.text, found.line_item.text)]
    sentence = (found.line_item.caption or "")[:40]
    both = [p for p in telling if label in " ".join(p.text.split()) or (sentence and sentence in p.text)]
    others = facts.passages_of(*place) if at_hand and not telling else []
    return next(
        iter([*both, *telling, *(p for p in others if prints(p.text, found.line_item.text)), *passages_there]), None
    )

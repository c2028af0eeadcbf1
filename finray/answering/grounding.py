"""Checks that the evidence prints the numbers of an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from finray.core.passages import Passage
from finray.core.plan import Found
from finray.core.readable import readable
from finray.core.vocabulary import MONTH
from finray.index.reading.facts import FilingFacts

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
"""Powers of ten between a number and its printed form: none, percent, thousands, millions, billions."""
PLAIN = frozenset(
    Decimal(number)
    for number in (0, 1, 2, 3, 4, 10, 12, 52, 100, 360, 365, 366, 1_000, 10_000, 1_000_000, 1_000_000_000)
)
"""Constants of formulas: for averages, months, quarters, days, percent, scales."""
_SPELLED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SMALL = 12
"""Whole numbers up to this one count things in prose."""


def figures(numbers: Iterable[float], texts: Sequence[str], question: str) -> tuple[float, ...]:
    """The ``numbers`` that ``texts`` or the question print, at one of SCALES. Constants of formulas occur everywhere
    ("12 months", "Note 4"), so they count only if printed as separate numbers."""
    whole = " ".join((*map(readable, texts), readable(question)))
    printed, alone = _forms(whole), _forms(_IN_A_NAME.sub(" ", _REFERENCE.sub(" ", whole)))
    found = []
    for number in numbers:
        if math.isfinite(number):
            exact = Decimal(repr(number))
            if _is_in(exact, alone, frozenset({0})) if exact in PLAIN else _is_in(exact, printed):
                found.append(number)
    return tuple(found)


def unspelled(numbers: Iterable[float], texts: Sequence[str]) -> tuple[float, ...]:
    """The ``numbers`` that ``texts`` do not spell out ("three")."""
    words = set(re.findall(r"[a-z]+", " ".join(map(readable, texts)).lower()))
    spelled = {number for number, word in enumerate(_SPELLED) if word in words}
    return tuple(number for number in numbers if number not in spelled)


def ungrounded_text(answer: str, texts: Sequence[str], question: str) -> tuple[str, ...]:
    """The numbers and quotations of ``answer`` that are not in ``texts``, as ``answer`` prints them."""
    answer, question, *texts = map(readable, (answer, question, *texts))
    printed = _forms(" ".join((*texts, question)))
    found = []
    for literal in _PRINTED.findall(_IN_A_NAME.sub(" ", answer)):
        number = _decimal(literal)
        counts = number == number.to_integral_value() and number <= _SMALL
        if not counts and number not in PLAIN and not _is_in(number, printed):
            found.append(literal)
    evidence = _squeezed(" ".join(texts))
    found += [quote for quote in _QUOTED.findall(answer) if _squeezed(quote).rstrip(".,; ") not in evidence]
    return tuple(dict.fromkeys(found))


def prints(text: str, cell: str) -> bool:
    """Whether ``text`` prints every figure of ``cell``: "$1,234" matches "$ 1,234". A cell without figures (a dash)
    matches any text."""
    return all(_stands_alone(figure, text) for figure in _CELL_FIGURE.findall(cell))


def _stands_alone(figure: str, text: str) -> bool:
    """Whether ``text`` has ``figure`` and not only within longer ones."""
    # Not a regular expression: one for each figure takes longer to compile than to search.
    start = text.find(figure)
    while start >= 0:
        before, after = text[max(0, start - 1) : start], text[start + len(figure) : start + len(figure) + 2]
        longer = before.isdecimal() or before in {".", ","} or after[:1].isdecimal()
        if not longer and not (after[:1] in {".", ","} and after[1:].isdecimal()):
            return True
        start = text.find(figure, start + 1)
    return False


def _forms(text: str) -> dict[tuple[int, ...], set[int]]:
    """The digits of each number in ``text`` without trailing zeros, and the exponents they are printed with."""
    forms: dict[tuple[int, ...], set[int]] = {}
    for literal in _PRINTED.findall(text):
        digits, exponent = _form(_decimal(literal))
        forms.setdefault(digits, set()).add(exponent)
    return forms


def _is_in(number: Decimal, printed: dict[tuple[int, ...], set[int]], scales: frozenset[int] = SCALES) -> bool:
    digits, exponent = _form(number)
    return any(abs(exponent - other) in scales for other in printed.get(digits, ()))


def _form(number: Decimal) -> tuple[tuple[int, ...], int]:
    _, digits, exponent = number.normalize().as_tuple()
    assert isinstance(exponent, int), "number must be finite"
    return digits, exponent


def _decimal(literal: str) -> Decimal:
    return Decimal(literal.replace(",", "")[:60])


def _squeezed(text: str) -> str:
    return " ".join(text.split()).lower()


def printing(found: Found, passages: Sequence[Passage], facts: FilingFacts) -> Passage | None:
    """The passage that prints the found row: one of ``passages``, else one from the index."""
    item = found.line_item
    place = (found.filing.filing_id, item.page)
    at_hand = [p for p in passages if (p.filing_id, p.page) == place]
    on_page = at_hand or facts.passages_of(*place)
    label = " ".join(item.label.split())[:30]
    with_figure = [p for p in on_page if prints(p.text, item.text)]
    sentence = (item.caption or "")[:40]
    with_row = [p for p in with_figure if label in " ".join(p.text.split()) or (sentence and sentence in p.text)]
    if at_hand and not with_figure:
        with_figure = [p for p in facts.passages_of(*place) if prints(p.text, item.text)]
    return next(iter([*with_row, *with_figure, *on_page]), None)

"""Reads the scale, rounding and unit that a question asks for: "in USD millions, to two decimal places"."""

from __future__ import annotations

import re

from finray.core.query import Shape
from finray.core.vocabulary import SCALE, number_of
from finray.question.measures.units import asked_unit

_ASKED_SCALE = re.compile(
    r"\bin\s+(?:units? of\s+)?(?:US\s?D(?:ollars)?\.?\s+|U\.S\. dollars?\s+|\$\s*|dollars?\s+)?"
    rf"({SCALE})s?\b"
    rf"|\b(?:USD|dollars?|\$)\s+(?:in\s+)?({SCALE})s?\b",
    re.I,
)
_ASKED_DECIMALS = re.compile(
    r"\b(zero|no|one|two|three|four|[1-4])\s+(?:decimal|digit)(?:\s*(?:places?|points?|s|after))?", re.I
)
_WHOLE = re.compile(r"\bnearest\s+(?:whole|integer|dollar|million|percent)\b|\bwhole number\b", re.I)


def asked_shape(question: str) -> Shape:
    """The first scale and the first number of decimals that ``question`` names, and its unit."""
    scale, decimals = _ASKED_SCALE.search(question), _ASKED_DECIMALS.search(question)
    digits = 0 if _WHOLE.search(question) else None
    if decimals:
        digits = 0 if decimals[1].lower() == "no" else number_of(decimals[1])
    return Shape((scale[1] or scale[2]).lower() if scale else None, digits, unit=asked_unit(question))


def shape_spans(text: str) -> tuple[tuple[int, int, str], ...]:
    """(start, end, words) of each phrase that asks for a scale or a rounding."""
    patterns = (_ASKED_SCALE, _ASKED_DECIMALS, _WHOLE)
    return tuple((*match.span(), match.group()) for pattern in patterns for match in pattern.finditer(text))

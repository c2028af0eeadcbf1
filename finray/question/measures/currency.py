"""Reads the currency in which a question asks for an amount: "in RMB", "in millions of U.S. dollars"."""

from __future__ import annotations

import re

from finray.core.currencies import SHARED, mentions
from finray.core.vocabulary import SCALES

_WORD = re.compile(r"[^\W_]+")
_BEFORE = 60
_PASSED = {"of", "the", *SCALES, *(f"{scale}s" for scale in SCALES)}
"""Words between "in" and the currency."""


def asked_currencies(question: str) -> tuple[str, ...]:
    """The codes of the currencies that may be the one asked for: several for "in dollars", none if the question leaves
    it open."""
    for mention in mentions(question):
        words = [word.lower() for word in _WORD.findall(question[max(0, mention.start - _BEFORE) : mention.start])]
        while words and words[-1] in _PASSED:
            words.pop()
        if words[-1:] == ["in"] and words[-2:-1] != ["denominated"]:
            return (mention.code,) if mention.code else tuple(filter(None, SHARED[mention.shared or "$"]))
    return ()

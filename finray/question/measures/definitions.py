"""Reads formulas that a question defines: "DPO is defined as: 365 * (average accounts payable between …) / …"."""

from __future__ import annotations

import re

from finray.core.vocabulary import any_of
from finray.filings.tables.canonical import canonical_items
from finray.question.arithmetic import ProgramError, names
from finray.question.measures.formulas import at_period
from finray.question.measures.mentions import mentions

_DEFINITION = re.compile(
    r"(?:\b(?:is|are)\s++defined|\bdefine\s++[^.;?]{3,80}?)\s++as\s*+(?::\s*+)?(.+?)(?:[.;?](?=\s|$)|$)",
    re.I | re.S,
)
_IN_PARENTHESES = re.compile(r"\(([^()]{3,120}(?:/|\bdivided by\b|\+|\bplus\b|\bminus\b|\bless\b)[^()]{3,120})\)")
_PERIOD_WORDS = re.compile(
    r"\b(?:(?:between|from|in|for|of|at|during)\s*+)?(?:the\s++)?(?:FY|fiscal(?:\s++years?)?)\s*+'?\d{2,4}"
    r"(?:\s*+(?:and|to|-|–)\s*+(?:(?:FY|fiscal(?:\s++year)?)\s*+)?'?\d{2,4})?",
    re.I,
)
_NOISE = re.compile(
    r"\[[^\]]*\]|\(from [^)]*\)|\bfrom (?:the )?cash flow statement\b|\bunadjusted\b|\btotal\b(?=\s+[a-z]+__)"
    r"|\bat (?:the )?(?:fiscal )?year[- ]end\b|\bat the end of the (?:fiscal )?year\b",
    re.I,
)
_SIGNS = {"divided by": "/", "over": "/", "plus": "+", "minus": "-", "less": "-", "times": "*", "×": "*", "÷": "/"}
_SIGN_WORDS = re.compile(rf"(?<!\w){any_of(_SIGNS)}(?!\w)", re.I)
_DEFINED_NAME = re.compile(r"(?:^|[.?!:]\s++|\bwhere\s++)([^.?!:]{3,60}?)\s++(?:is|are)\s++defined\s++as\b", re.I)


def defined_name(question: str) -> str | None:
    """The name that ``question`` defines: "asset intensity" in "Asset intensity is defined as: …"."""
    match = _DEFINED_NAME.search(question)
    return match[1].strip() if match else None


def unread_definition(question: str) -> str | None:
    """The definition in ``question`` if :func:`defined_formula` cannot read it."""
    match = _DEFINITION.search(question)
    if match is None or defined_formula(question) is not None:
        return None
    return match[1].strip()


def defined_formula(question: str) -> str | None:
    """The definition in ``question`` as an expression over canonical line items with avg and delta; None if it has no
    definition, or one with unknown words, or one too long or too deep to compute."""
    match = _DEFINITION.search(question) or _IN_PARENTHESES.search(question)
    if match is None:
        return None
    text = _PERIOD_WORDS.sub(" ", _NOISE.sub(" ", match[1]))
    items = canonical_items()
    for mention in reversed(mentions(text)):
        if mention.value not in items:
            return None
        text = text[: mention.start] + mention.value + text[mention.end :]
    text = re.sub(r"\b(?:the\s+)?average\s+(?:of\s+)?(?:the\s+)?(\w+)", r"avg(\1)", text, flags=re.I)
    text = re.sub(r"\b(?:the\s+)?(?:change|increase)\s+in\s+(?:the\s+)?(\w+)", r"delta(\1)", text, flags=re.I)
    text = re.sub(r"\bcash from operations\b", "operating_cash_flow", text, flags=re.I)
    text = _SIGN_WORDS.sub(lambda word: _SIGNS[word[0].lower()], text)
    expression = re.sub(r"\s+", " ", text).strip()
    try:
        operands = names(expression)
        at_period(expression)
    except ProgramError:
        return None
    return expression if operands and all(operand in items for operand in operands) else None

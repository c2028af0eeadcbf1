"""Formulas that a question defines itself: "DPO is defined as: 365 * (average accounts payable between …) / …"."""

from __future__ import annotations

import re

from finray.accounting.arithmetic import ProgramError, names, parse
from finray.accounting.mentions import mentions
from finray.filings.canonical import canonical_items

_DEFINITION = re.compile(
    r"\b(?:is|are)\s+defined\s+as\s*:?\s*(.+?)(?:[.;?](?=\s|$)|$)|\bdefine\s+[^.;?]{3,80}?\s+as\s*:?\s*(.+?)(?:[.;?](?=\s|$)|$)",
    re.I | re.S,
)
_PERIOD_WORDS = re.compile(
    r"\b(?:between|from|in|for|of|at|during)?\s*(?:the\s+)?(?:FY|fiscal(?:\s+years?)?)\s*'?\d{2,4}"
    r"(?:\s*(?:and|to|-|–)\s*(?:FY|fiscal(?:\s+year)?)?\s*'?\d{2,4})?",
    re.I,
)
_NOISE = re.compile(
    r"\[[^\]]*\]|\(from [^)]*\)|\bfrom (?:the )?cash flow statement\b|\bunadjusted\b|\btotal\b(?=\s+[a-z]+__)", re.I
)


def defined_formula(question: str) -> str | None:
    """The definition in ``question`` as an expression over canonical line items with avg and delta, None where there
    is none or it holds words that are not understood."""
    match = _DEFINITION.search(question)
    if match is None:
        return None
    text = _NOISE.sub(" ", match.group(1) or match.group(2))
    text = _PERIOD_WORDS.sub(" ", text)
    items = canonical_items()
    for mention in reversed(mentions(text)):
        if mention.key not in items:
            return None
        text = f"{text[: mention.start]}{mention.key}{text[mention.end :]}"
    text = re.sub(r"\b(?:the\s+)?average\s+(?:of\s+)?(?:the\s+)?(\w+)", r"avg(\1)", text, flags=re.I)
    text = re.sub(r"\b(?:the\s+)?(?:change|increase)\s+in\s+(?:the\s+)?(\w+)", r"delta(\1)", text, flags=re.I)
    text = re.sub(r"\bcash from operations\b", "operating_cash_flow", text, flags=re.I)
    for word, sign in (
        ("divided by", "/"),
        ("over", "/"),
        ("plus", "+"),
        ("minus", "-"),
        ("less", "-"),
        ("times", "*"),
        ("×", "*"),
        ("÷", "/"),
    ):
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", sign, text, flags=re.I)
    expression = re.sub(r"\s+", " ", text).strip()
    try:
        operands = names(expression)
        parse(expression)
    except ProgramError:
        return None
    return expression if operands and all(operand in items for operand in operands) else None

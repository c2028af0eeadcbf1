"""The question without its instructions, and the statements it names in words."""

from __future__ import annotations

import re

from finray.types import Statement

_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z\"“(])")
_INSTRUCTION = re.compile(
    r"^(?:please\s+)?(?:answer|round|calculate|compute|give|provide|respond|address|base|use|utilize|state|define|"
    r"assume|consider|express|show|report|rely|refer|ensure|make sure|do not|don't|return|keep|write)\b"
    r"|^you are\b|^if .{0,80}\b(?:not|isn't|aren't)\b.{0,120}\b(?:state|say|explain)\b"
    r"|\bis defined as\b|\bare defined as\b",
    re.I,
)
_LEAD_IN = re.compile(
    r"^(?:[^?]{0,200}\bhere(?:'s| is) the question:\s*)|^(?:based on|basing|by|taking|using|looking|drawing|according to|"
    r"considering|relying|given|with reference to|in light of|from)\b[^?]{10,200}?,\s+(?=(?:what|how|which|did|does|is|was|"
    r"were|has|have|who|when|why|can|by)\b)",
    re.I,
)

_STATEMENT_WORDS: tuple[tuple[Statement, re.Pattern[str]], ...] = (
    ("cash_flow", re.compile(r"\bcash[- ]flows? statements?\b|\bstatements? of (?:consolidated )?cash flows?\b", re.I)),
    (
        "comprehensive_income",
        re.compile(r"\bstatements? of (?:consolidated )?comprehensive (?:income|loss|earnings)\b", re.I),
    ),
    (
        "income",
        re.compile(
            r"\bincome statements?\b|\bstatements? of (?:consolidated )?(?:income|operations|earnings)\b|\bP ?& ?L\b|"
            r"\bprofit and loss\b|\bprofit (?:&|or) loss\b",
            re.I,
        ),
    ),
    (
        "balance",
        re.compile(r"\bbalance sheets?\b|\bstatements? of (?:consolidated )?financial (?:position|condition)\b", re.I),
    ),
    (
        "equity",
        re.compile(
            r"\bstatements? of (?:changes in )?(?:share|stock)holders['’]? ?(?:equity|investment)\b|"
            r"\bstatements? of (?:changes in )?equity\b",
            re.I,
        ),
    ),
)


def without_instructions(question: str) -> str:
    """The sentences that ask, without personas, rounding wishes, definitions and lead-ins.

    Returns the question unchanged where nothing would be left.
    """
    kept = [s for s in _SENTENCE.split(question.strip()) if not _INSTRUCTION.search(s.strip())]
    text = " ".join(_LEAD_IN.sub("", sentence, count=1).strip() for sentence in kept).strip()
    return text or question.strip()


def statements_named(question: str) -> tuple[Statement, ...]:
    """The primary statements that the question names, in the order of the annual report."""
    return tuple(statement for statement, pattern in _STATEMENT_WORDS if pattern.search(question))

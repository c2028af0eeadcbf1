"""The number that a cell stands for in a computation."""

from __future__ import annotations

import re

from finray.answering.operands import printed_amount
from finray.answering.page_cells import measure_of
from finray.core.plan import Phrase
from finray.core.types import LineItem
from finray.question.synonyms import words_of

_OUTFLOW = re.compile(
    r"\b(?:loss(?:es)?|impairments?|charges?|expenses?|costs?|amortization|depreciation|write-?(?:off|down)s?|"
    r"provisions?|forfeit\w*|cancell?ed|expired|exercised|released|allowances?|deductions?)\b",
    re.I,
)
_EITHER = re.compile(r"\b(?:income|gains?|earnings|profit|benefits?|recover(?:y|ies)|credits?|net)\b", re.I)
"""Rows that may have either sign."""


def phrase_of_row(item: LineItem) -> Phrase:
    """The row's own label as what is looked up."""
    return Phrase(item.label, words_of(item.label), (), measure_of(item) or "money")


def amount_of(item: LineItem, phrase: Phrase | None = None) -> float:
    """In base units, percent as a fraction; positive in a row of losses, costs or payments, whose parentheses mean that
    they are deducted."""
    value = printed_amount(phrase or Phrase(item.label, (), (), measure_of(item) or "money"), item)
    return abs(value) if _OUTFLOW.search(item.label) and not _EITHER.search(item.label) else value

"""Judges whether a company depends on few customers, by the sentences of its report that give their shares."""

from __future__ import annotations

import re
from collections.abc import Sequence

from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.question.plans.judgement_criteria import Concentration

_SHARE = re.compile(r"(?<![\d.,])(\d{1,2}(?:\.\d+)?)\s?(?:%|per ?cent\b)", re.I)
_OF_SALES = re.compile(r"\b(?:sales|revenues?)\b", re.I)
_NONE = re.compile(
    r"\b(?:no|not|nor|none|neither)\b[^.;]{0,60}\b(?:customers?|clients?)\b|"
    r"\b(?:customers?|clients?)\b[^.;]{0,40}\b(?:no|not|none)\b",
    re.I,
)
_GIVES = re.compile(
    r"\b(?:account\w*|represent\w*|compris\w*|constitut\w*|exceed\w*|made up|greater than|more than)\b", re.I
)
_ONE = re.compile(r"\b(?:single|largest|one|individual)\b", re.I)
_SENTENCE_END = re.compile(r"(?<=[.;])\s+(?=[A-Z“])|\n{2,}")
_MOST = 350
"""Characters; a longer stretch with shares is a table or a paragraph about something else."""
SEARCHED = 20
"""How many passages of a filing are searched for such sentences."""


def judged_customers(concentration: Concentration, passages: Sequence[Passage]) -> Answer | None:
    """The best two sentences about shares of customers, led by a verdict; None if no sentence gives them."""
    found: list[tuple[int, str, Passage]] = []
    for passage in passages:
        for text in map(_joined, _SENTENCE_END.split(passage.text)):
            worth = _worth(text, concentration)
            if worth and not any(text in other or other in text for _, other, _ in found):
                found.append((worth, text, passage))
    if not found:
        return None
    best = max(worth for worth, _, _ in found)
    quoted = [(text, passage) for worth, text, passage in found if worth == best][:2]
    deciding = quoted[0][0]
    shares = [float(share) for share in _SHARE.findall(deciding)]
    high = _NONE.search(deciding) is None and max(shares) >= concentration.threshold
    lead = f"Yes, {concentration.yes}" if high else f"No, {concentration.no}"
    criterion = f"finray calls a customer of {concentration.threshold:g}% of revenue or more a concentration"
    quotes = " ".join(f"“{text}” ({passage.doc_name}, p. {passage.page + 1})" for text, passage in quoted)
    value = shares[0] if high and len(shares) == 1 else None
    unit = "percent" if value is not None else None
    evidence = tuple(dict.fromkeys(passage for _, passage in quoted))
    return Answer(f"{lead} ({criterion}): {quotes}", "answered", value, unit, evidence=evidence)


def _worth(text: str, concentration: Concentration) -> int:
    """How well a sentence gives a customer's share of sales: 0 if it does not, more for one customer and for none."""
    gives_shares = (
        len(text) <= _MOST
        and text.endswith((".", ";"))
        and 1 <= len(_SHARE.findall(text)) <= 4
        and concentration.customers.search(text.lower())
        and _OF_SALES.search(text)
        and _GIVES.search(text)
    )
    if not gives_shares:
        return 0
    return 1 + (_ONE.search(text) is not None) + (_NONE.search(text) is not None)


def _joined(text: str) -> str:
    return " ".join(text.split())

"""Whether a company depends on few customers: the sentences of its report that give their shares, and a verdict."""

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


def judged_customers(concentration: Concentration, passages: Sequence[Passage]) -> Answer | None:
    """The best two sentences about shares of customers, led by a verdict; None if no sentence gives them."""
    found: list[tuple[int, int, str, Passage]] = []
    for rank, passage in enumerate(passages):
        for text in map(_joined, _SENTENCE_END.split(passage.text)):
            worth = _worth(text, concentration)
            if worth and not any(text in other or other in text for _, _, other, _ in found):
                found.append((-worth, rank, text, passage))
    if not found:
        return None
    _, _, text, passage = best = min(found, key=lambda entry: entry[:2])
    second = min(
        (entry for entry in found if entry is not best and entry[0] == best[0]), default=None, key=lambda e: e[1]
    )
    shares = [float(share) for share in _SHARE.findall(text)]
    none = _NONE.search(text) is not None
    high = not none and max(shares, default=0.0) >= concentration.threshold
    criterion = f"finray calls a customer of {concentration.threshold:g}% of revenue or more a concentration"
    quotes = [f"“{text}” ({passage.doc_name}, p. {passage.page + 1})"]
    evidence = [passage]
    if second is not None:
        quotes.append(f"“{second[2]}” ({second[3].doc_name}, p. {second[3].page + 1})")
        evidence.append(second[3])
    lead = f"Yes, {concentration.yes}" if high else f"No, {concentration.no}"
    value = shares[0] if high and len(shares) == 1 else None
    unit = "percent" if value is not None else None
    answer = f"{lead} ({criterion}): {' '.join(quotes)}"
    return Answer(answer, "answered", value, unit, evidence=tuple(dict.fromkeys(evidence)))


def _worth(text: str, concentration: Concentration) -> int:
    """0 if the sentence gives no customer's share of sales; more for one customer and for a plain statement."""
    shares = len(_SHARE.findall(text))
    about = concentration.customers.search(text.lower()) is not None and _OF_SALES.search(text) is not None
    if (
        not about
        or len(text) > _MOST
        or not text.endswith((".", ";"))
        or not (1 <= shares <= 4)
        or _GIVES.search(text) is None
    ):
        return 0
    return 1 + (_ONE.search(text) is not None) + (_NONE.search(text) is not None)


def _joined(text: str) -> str:
    return " ".join(text.split())

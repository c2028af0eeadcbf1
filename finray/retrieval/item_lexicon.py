"""Words that SEC Items use more often than others: FinGEAR's FLAM, learned by
``finray.lab.training.retrieval.item_lexicon``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from finray.core.data_files import shipped_data

_FULL = 3.0
"""The largest weight of a term: pages of the Item use it 20 times as often as others."""


@cache
def item_lexicon() -> Mapping[str, Mapping[str, float]]:
    """Stemmed term -> {Item: log of relative frequency}."""
    lexicon: dict[str, dict[str, float]] = shipped_data("finray.retrieval", "item_lexicon.json")
    return lexicon


def item_affinity(terms: Sequence[str], item: str | None) -> float:
    """How much more often the pages of ``item`` use ``terms`` than other pages do, in [-1, 1]; 0 if unknown."""
    known = [weights for term in terms if (weights := item_lexicon().get(term))]
    if item is None or not known:
        return 0.0
    return sum(weights.get(item, 0.0) for weights in known) / len(known) / _FULL

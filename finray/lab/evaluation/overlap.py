"""BLEU and ROUGE-L between a retrieved passage and the gold text, on lower-cased words and numbers.

Both are implemented here, so that evaluation needs no language toolkit:

* BLEU (Papineni et al. 2002) of one passage against one reference: geometric mean of the clipped 1- to 4-gram
  precisions, times the brevity penalty. One is added to the counts from 2-grams on (Lin and Och 2004), so that a short
  passage does not score zero.
* ROUGE-L (Lin 2004): F1 of the longest common subsequence.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
_ORDERS = 4


def tokens(text: str) -> tuple[str, ...]:
    """Words and numbers, lower-cased; "1,234.5" is one token."""
    return tuple(_TOKEN.findall(text.lower()))


class Reference:
    """Gold tokens, counted once for all passages that are compared with them."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.grams = {order: _grams(words, order) for order in range(1, _ORDERS + 1)}


def bleu(candidate: Sequence[str], reference: Reference) -> float:
    """Smoothed sentence BLEU-4 in [0, 1] of ``candidate`` tokens."""
    if not candidate or not reference.words:
        return 0.0
    logarithms = 0.0
    for order in range(1, _ORDERS + 1):
        wanted = reference.grams[order]
        added = 0 if order == 1 else 1
        found = _grams(candidate, order)
        clipped = sum(min(count, wanted.get(gram, 0)) for gram, count in found.items()) + added
        total = max(len(candidate) - order + 1, 0) + added
        if clipped == 0:
            return 0.0
        logarithms += math.log(clipped / total)
    brevity = min(0.0, 1 - len(reference.words) / len(candidate))
    return math.exp(logarithms / _ORDERS + brevity)


def rouge_l(candidate: Sequence[str], reference: Reference) -> float:
    """ROUGE-L F1 in [0, 1] of ``candidate`` tokens."""
    common = _common_subsequence(candidate, reference.words)
    return 2 * common / (len(candidate) + len(reference.words)) if common else 0.0


def _grams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[at:] for at in range(order)), strict=False))


def _common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence. Each row of the table is one integer's bits (Hyyrö 2004), so a gold
    page of a thousand words takes a fraction of a millisecond."""
    places: dict[str, int] = {}
    for at, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << at
    row = full = (1 << len(first)) - 1
    for word in second:
        if word in places:
            matches = row & places[word]
            row = ((row + matches) | (row - matches)) & full
    return len(first) - row.bit_count()

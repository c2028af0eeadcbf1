"""How near a row or a sentence is to a question, by its words. Words that are rare in the candidates count more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from finray.core.plan import Coverage
from finray.core.query import Query
from finray.question.synonyms import variants, word_set, words_of

_VARIANT_WORTH = 0.8
_ASIDE_WORTH = 0.5
"""Worth of a word beside the row: in its section, its columns or the table's title."""
_MAX_VARIED = 40


class Relevance:
    """Scores texts by the words they share with a question. ``drop`` are company names, which every page has; ``texts``
    are the candidates, whose word frequencies weight the words."""

    def __init__(self, query: Query, coverage: Coverage | None, drop: Iterable[str], texts: Iterable[str]) -> None:
        dropped = {word for name in drop for word in word_set(name)}
        asked = [word for word in words_of(query.text) if word not in dropped]
        self._worth: dict[str, float] = {}
        for wording in variants(tuple(asked[:_MAX_VARIED])):
            for word in wording:
                self._worth.setdefault(word, _VARIANT_WORTH)
        for term in query.terms:
            for word in words_of(term):
                self._worth.setdefault(word, _VARIANT_WORTH)
        self._worth.update(dict.fromkeys(asked, 1.0))
        if coverage is not None:
            wordings = [operand.wording for operand in coverage.plan.operands]
            self._worth.update(dict.fromkeys((word for text in wordings for word in words_of(text)), 1.0))
        counts: Counter[str] = Counter()
        total = 0
        known = frozenset(self._worth)
        for text in texts:
            counts.update(word_set(text) & known)
            total += 1
        self._worth = {
            word: worth * math.log(1 + (total + 1) / (1 + counts[word]))
            for word, worth in self._worth.items()
            if counts[word]
        }
        self._words = frozenset(self._worth)
        self._most = max(sum(sorted(self._worth.values())[-6:]), 1e-9)

    def score(self, text: str, aside: str = "") -> float:
        """A score of about 0 to 1; 1 if ``text`` has the question's rarest words. Words of ``aside`` count in part."""
        own = word_set(text)
        found = own & self._words
        near = (word_set(aside) & self._words) - found
        worth = math.fsum(self._worth[word] for word in found) + _ASIDE_WORTH * math.fsum(
            self._worth[word] for word in near
        )
        if not found and not near:
            return 0.0
        # A short row with only the question's words is nearer than a long one that has them too.
        focus = 0.7 + 0.3 * len(found) / max(len(own), 1)
        return min(worth / self._most, 1.0) * focus


def best(scores: Sequence[float]) -> float:
    """The best of ``scores`` plus a little for the next two: three near rows make a table nearer than one."""
    ranked = sorted(scores, reverse=True)
    return sum(score * 0.25**place for place, score in enumerate(ranked[:3]))

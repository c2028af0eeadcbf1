"""The gold page of a question in its filing: by the words and figures of its table, and by the meaning of its prose.

LOFin (arXiv 2505.20368, appendix B.3) accepts a page if BM25 over the gold table, in which distinct numbers count, and
an NLI model over the gold text choose the same one; the others are annotated by hand.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from finray.lab.datasets.lofin_builder.closed import Context
from finray.lab.evaluation.overlap import tokens

Scores = npt.NDArray[np.float64]
Similarity = Callable[[str, Sequence[str]], Scores]
"""float64 [len(pages)]: how well each page fits a context."""

_K1, _B = 1.5, 0.75
_GRAM = 3
_ZEROS = re.compile(r"(?<=\d)\.0+\Z")


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The page that each method chose, None if it found none."""

    by_words: int | None
    by_meaning: int | None

    @property
    def agreed(self) -> int | None:
        """The page that both chose; None if they differ or one found none."""
        return self.by_words if self.by_words == self.by_meaning else None


class FilingPages:
    """The pages of one filing, prepared for many searches. ``texts`` are by page number."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._counts = [Counter(terms(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in self._counts], dtype=np.float64)
        self._norms = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()) if len(texts) else 0.0, 1.0))
        self._frequency = Counter(term for count in self._counts for term in count)

    def bm25(self, query: str) -> Scores:
        """float64 [pages]: BM25 of the distinct words and numbers of ``query``."""
        scores = np.zeros(len(self.texts))
        for term in dict.fromkeys(terms(query)):
            n = self._frequency[term]
            if n:
                weight = math.log(1 + (len(self.texts) - n + 0.5) / (n + 0.5))
                counts = np.array([count[term] for count in self._counts], dtype=np.float64)
                scores += weight * counts * (_K1 + 1) / (counts + self._norms)
        return scores

    def find(self, context: Context, similarity: Similarity) -> FoundPage:
        by_words = first(self.bm25(context.table)) if context.table.strip() else None
        by_meaning = first(similarity(context.prose, self.texts)) if context.prose.strip() else None
        return FoundPage(by_words, by_meaning)


def first(scores: Scores) -> int | None:
    """The index of the highest score, the first of several; None if none is positive."""
    return int(scores.argmax()) if scores.size and scores.max() > 0 else None


def text_match(context: str, pages: Sequence[str]) -> Scores:
    """The share of the distinct three-word sequences of ``context`` that each page has: the similarity without a
    model."""
    wanted = _grams(context)
    found = [len(wanted & _grams(page)) for page in pages]
    return np.array(found, dtype=np.float64) / max(len(wanted), 1)


def terms(text: str) -> list[str]:
    """Words and numbers as data sets and filings both write them: "1,234.0" is "1234"."""
    return [_ZEROS.sub("", token.replace(",", "")) for token in tokens(text)]


def _grams(text: str) -> set[tuple[str, ...]]:
    words = terms(text)
    return set(zip(*(islice(words, at, None) for at in range(_GRAM)), strict=False))

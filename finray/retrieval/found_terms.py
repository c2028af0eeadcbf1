"""Finds the terms of a question on pages: by page, by line, and next to each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from finray.core.arrays import Floats
from finray.question.terms import term_code
from finray.retrieval.filing_pages import Numbers, PageText


class FoundTerms:
    """The places of ``terms`` among all terms of ``texts``, compared by their codes."""

    def __init__(self, texts: Sequence[PageText], terms: Iterable[str]) -> None:
        self.terms = tuple(dict.fromkeys(terms))
        self._texts = texts
        lengths = np.asarray([len(text.terms) for text in texts], dtype=np.int64)
        self._ends = np.cumsum(lengths)
        starts = self._ends - lengths
        lines = [text.lines + start for text, start in zip(texts, starts, strict=True)]
        self._lines = np.concatenate([np.zeros(0, np.int64), *lines])
        self._first_lines = np.cumsum([0, *map(len, lines)])[:-1]
        every = np.concatenate([np.zeros(0, np.int64), *(text.terms for text in texts)])
        # Most terms on pages are not asked for: those that are get filtered first, then compared with each term.
        codes = {term: term_code(term) for term in self.terms}
        asked = np.flatnonzero(np.isin(every, np.asarray([*codes.values()], dtype=np.int64)))
        found = every[asked]
        self._places = {term: asked[found == code] for term, code in codes.items()}
        self._pages = {term: np.unique(self._page_of(places)) for term, places in self._places.items()}

    def pages(self, term: str) -> Numbers:
        """The numbers of the texts with ``term``."""
        return self._pages[term]

    def n_pages(self, term: str) -> int:
        """The number of texts with ``term``."""
        return len(self._pages[term])

    def has_pair(self, first: str, second: str) -> npt.NDArray[np.bool_]:
        """Which texts have ``second`` right after ``first``."""
        after = np.intersect1d(self._places[first] + 1, self._places[second], assume_unique=True)
        found = np.zeros(len(self._texts), dtype=bool)
        pages = self._page_of(after)
        found[pages[pages == self._page_of(after - 1)]] = True
        return found

    def best_lines(self, weights: Mapping[str, float]) -> tuple[Floats, Floats]:
        """The largest sum of ``weights`` of terms in a line of each text, and in a row of a table."""
        sums = np.zeros(len(self._lines))
        for term, weight in weights.items():
            sums[np.unique(np.searchsorted(self._lines, self._places[term], side="right") - 1)] += weight
        best = np.maximum.reduceat(sums, self._first_lines) if len(self._texts) else np.zeros(0)
        rows = np.zeros(len(self._texts))
        matched = np.flatnonzero(sums)
        texts = np.searchsorted(self._first_lines, matched, side="right") - 1
        order = np.lexsort((-sums[matched], texts))
        ranked = zip(texts[order].tolist(), matched[order].tolist(), strict=True)
        for number, lines in groupby(ranked, key=itemgetter(0)):
            first = int(self._first_lines[number])
            row = self._texts[number].first_row(line - first for _, line in lines)
            if row is not None:
                rows[number] = sums[first + row]
        return best, rows

    def _page_of(self, places: Numbers) -> npt.NDArray[np.intp]:
        return np.searchsorted(self._ends, places, side="right")

"""How much of a question's words, by rarity, stands in the label, heads and titles of a cell, and how much else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from finray.answering.cells.asked_cell import AskedCell
from finray.answering.cells.cell_words import CALENDAR, WHOLE, Rarity
from finray.answering.cells.page_cells import PageCell
from finray.question.synonyms import words_of

COVER: Final = ("row", "column", "section", "caption")
SHARES: Final = (*COVER, "heading", "surplus", "surplus_column", "surplus_section", "part", "total")
"""Features of a cell (``cell_features``), in the order of :meth:`WordShares.shares`."""
_TOTAL = frozenset(words_of("total"))
_PLAIN = WHOLE | CALENDAR
"""Words of columns that do not name a part of the company."""


class WordShares:
    """The words of each reading of the question that some cell has, with their total weight by the rarity of words in
    one filing. Keeps what it compares: rows of a table share heads and titles."""

    def __init__(self, asked: AskedCell, any_asked: frozenset[str], printed: set[str], rarity: Rarity) -> None:
        wanted = [reading & printed for reading in asked.readings]
        readings = ((reading, math.fsum(map(rarity.weight, reading))) for reading in wanted)
        self._readings = [each for each in readings if each[1]]
        self._every = frozenset().union(*wanted)
        self._any_asked, self._rarity = any_asked, rarity
        self._known: dict[tuple[frozenset[str], ...], list[float]] = {}
        self._surpluses: dict[frozenset[str], float] = {}

    def shares(self, cell: PageCell) -> list[float]:
        """The features SHARES of a cell, in that order; those of the question's words by its best reading."""
        words, any_asked = cell.words, self._any_asked
        label, column = words.label - words.aside, words.column - _PLAIN
        there = tuple(
            [self._every & place for place in (label, words.column, words.section, words.caption, cell.heading)]
        )
        best = self._known.get(there)
        if best is None:
            best = self._known[there] = self._best(there)
        part = bool(column) and not column & any_asked and not words.whole
        surpluses = [self._surplus(place) for place in (label, column, words.section)]
        total = bool(words.label & _TOTAL) and not any_asked & _TOTAL
        return [*best, *surpluses, float(part), float(total)]

    def _best(self, there: Sequence[frozenset[str]]) -> list[float]:
        """The share in each place of the reading with the largest share in all but the last, given the words that are
        ``there``."""
        best, best_sum = [0.0] * len(there), -1.0
        for wanted, total in self._readings if any(there) else ():
            shares: list[float] = []
            left = wanted
            for place in there:
                found = left & place
                shares.append(math.fsum(map(self._rarity.weight, found)) / total if found else 0.0)
                left = left - found
            if sum(shares[: len(COVER)]) > best_sum:
                best, best_sum = shares, sum(shares[: len(COVER)])
        return best

    def _surplus(self, words: frozenset[str]) -> float:
        """The share of ``words`` that the question lacks."""
        known = self._surpluses.get(words)
        if known is None:
            own = self._rarity.total(words)
            spare = math.fsum(map(self._rarity.weight, words - self._any_asked)) / own if own else 0.0
            known = self._surpluses[words] = spare
        return known

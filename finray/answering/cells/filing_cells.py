"""The cells of one filing, prepared once for many look-ups: by period, with their words and how rare these are.

Two questions, or two operands of one question, look for different rows and periods of the same filing.
"""

from __future__ import annotations

import datetime as dt
from collections import OrderedDict
from collections.abc import Collection, Sequence
from functools import cached_property
from operator import itemgetter

from finray.answering.cells.cell_words import Around, Rarity
from finray.answering.cells.row_match import Matcher
from finray.core.filing import LineItem
from finray.core.plan import Phrase
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS

_KEPT_PHRASES = 6
"""About as many phrases as one question has; their matches with the cells are kept."""


class FilingCells:
    """``items`` are all line items of one filing, in reading order."""

    def __init__(self, items: Sequence[LineItem]) -> None:
        self.items = tuple(items)  # not the object that keeps these cells: a cycle would outlive it
        self._matchers: OrderedDict[tuple[object, ...], Matcher] = OrderedDict()
        self._around: dict[dt.date, list[tuple[int, LineItem, Around]]] = {}

    @cached_property
    def rarity(self) -> Rarity:
        """How rare each word is among the rows."""
        return Rarity(self.items)

    def matcher(self, phrase: Phrase) -> Matcher:
        """The matcher of the cells with ``phrase``, shared by phrases with the same words."""
        key = phrase.words, phrase.metrics
        matcher = self._matchers.get(key)
        if matcher is None:
            matcher = self._matchers[key] = Matcher(phrase, self.rarity)
        self._matchers.move_to_end(key)
        if len(self._matchers) > _KEPT_PHRASES:
            self._matchers.popitem(last=False)
        return matcher

    def ending(self, ends: Collection[dt.date]) -> list[tuple[LineItem, Around]]:
        """The items of periods that end within DATE_TOLERANCE_DAYS of one of ``ends``, in reading order, each with the
        words around it."""
        found: list[tuple[int, LineItem, Around]] = []
        for day, numbers in self._by_end.items():
            if any(abs((day - end).days) <= DATE_TOLERANCE_DAYS for end in ends):
                own = self._around.get(day)
                if own is None:
                    items = ((number, self.items[number]) for number in numbers)
                    own = self._around[day] = [(number, item, self.rarity.around(item)) for number, item in items]
                found += own
        return [(item, around) for _, item, around in sorted(found, key=itemgetter(0))]

    def is_tagged(self, *, balances: bool) -> bool:
        """Whether any item has a tag; with ``balances``, any item that is a balance."""
        return self._tagged_balances if balances else self._tagged

    @cached_property
    def _by_end(self) -> dict[dt.date, list[int]]:
        by_end: dict[dt.date, list[int]] = {}
        for number, item in enumerate(self.items):
            if item.period_end is not None:
                by_end.setdefault(item.period_end, []).append(number)
        return by_end

    @cached_property
    def _tagged(self) -> bool:
        return any(item.concept is not None for item in self.items)

    @cached_property
    def _tagged_balances(self) -> bool:
        return any(item.concept is not None and item.months == 0 for item in self.items)

"""The cells of one filing, prepared once for many look-ups: by their words, and how rare these are.

Two questions, or two operands of one question, look for different rows and periods of the same filing.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from finray.answering.cells.cell_words import Around, Rarity
from finray.answering.cells.row_match import Matcher
from finray.core.filing import LineItem
from finray.core.plan import Phrase
from finray.question.synonyms import word_set

_TOTAL = re.compile(r"\b(?:total|consolidated)\b(?P<last>(?: company)?\Z)?", re.I)
"""Names a column of the whole, as the ``last`` words of its head behind what the columns of its parts have in
common."""
_KEPT_PHRASES = 24
"""Phrases whose matches with the cells are kept, 30 KB each: a question has about six, and the next one about the
filing often repeats some."""


class Promising(NamedTuple):
    """The ``numbers`` of items with the same words ``around`` them, and an upper bound of their fit to a phrase."""

    bound: float
    around: Around
    numbers: Sequence[int]


class FilingCells:
    """``items`` are all line items of one filing, in reading order."""

    def __init__(self, items: Sequence[LineItem]) -> None:
        self.items = tuple(items)  # not the object that keeps these cells: a cycle would outlive it
        self._matchers: OrderedDict[tuple[object, ...], Matcher] = OrderedDict()
        self._named: dict[str, frozenset[Around]] = {}
        self._promising: dict[Matcher, Sequence[Promising]] = {}

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
            _, dropped = self._matchers.popitem(last=False)
            self._promising.pop(dropped, None)
        return matcher

    def promising(self, phrase: Phrase) -> Sequence[Promising]:
        """The items whose words may fit ``phrase``, the most promising words first."""
        matcher = self.matcher(phrase)
        found = self._promising.get(matcher)
        if found is None:
            named = frozenset().union(*(self._rows_of(metric) for metric, _ in phrase.metrics))
            near = (each for each in self._by_words.items() if each[0] in named or matcher.shares_word(each[0]))
            bounds = ((matcher.bound(self.items[own[0]], around), around, own) for around, own in near)
            found = [Promising(*each) for each in bounds if each[0] > 0]
            found.sort(key=attrgetter("bound"), reverse=True)
            self._promising[matcher] = found
        return found

    def _rows_of(self, metric: str) -> frozenset[Around]:
        """The words around the rows of ``metric``, a canonical line item."""
        rows = self._named.get(metric)
        if rows is None:
            named = (a for a, own in self._by_words.items() if self.rarity.is_named(metric, self.items[own[0]]))
            rows = self._named[metric] = frozenset(named)
        return rows

    def tagged(self, concept: str | None) -> Sequence[int]:
        """The numbers of the items with the tag ``concept``; none for None."""
        return self._by_concept.get(concept, ()) if concept is not None else ()

    def is_tagged(self, *, balances: bool) -> bool:
        """Whether any item has a tag; with ``balances``, any item that is a balance."""
        return self._tagged_balances if balances else self._tagged

    @cached_property
    def parts(self) -> dict[tuple[int, int, int], frozenset[str]]:
        """The words that tell a column of a part from that of the total, for each cell (page, row, column) in whose row
        the total is printed for the same period: "Water" beside "Wastewater" and "Total"."""
        rows: dict[tuple[object, ...], list[LineItem]] = {}
        for item in self.items:
            rows.setdefault((item.page, item.row, item.period_end, item.months), []).append(item)
        return {
            (item.page, item.row, item.column): word_set(item.column_label or "") - word_set(total)
            for row in rows.values()
            for total in filter(None, (each.column_label for each in row))
            if (named := _TOTAL.search(total)) is not None and named["last"] is not None
            for item in row
            if (item.column_label or "").startswith(total[: named.start()].rstrip())
            and _TOTAL.search(item.column_label or "") is None
        }

    @cached_property
    def _by_words(self) -> dict[Around, list[int]]:
        """The numbers of the dated items with the same words around them."""
        by_words: dict[Around, list[int]] = {}
        for number, item in enumerate(self.items):
            if item.period_end is not None:
                by_words.setdefault(self.rarity.around(item), []).append(number)
        return by_words

    @cached_property
    def _by_concept(self) -> dict[str, list[int]]:
        by_concept: dict[str, list[int]] = {}
        for number, item in enumerate(self.items):
            if item.concept is not None:
                by_concept.setdefault(item.concept, []).append(number)
        return by_concept

    @cached_property
    def _tagged(self) -> bool:
        return any(item.concept is not None for item in self.items)

    @cached_property
    def _tagged_balances(self) -> bool:
        return any(item.concept is not None and item.months == 0 for item in self.items)

"""How well a table cell matches a phrase: the words that it shares with the cell's row, section, column and caption.

Words that are rare among the rows of the filing count more, and qualifiers (current or deferred, foreign or domestic)
must agree (agreement.py). The weights of places and disagreements are fitted (row_weights.py). The match is lexical on
purpose: in an embedding "deferred tax assets" is close to "current taxes".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from finray.answering.cells.agreement import agreement, qualifier_mask
from finray.answering.cells.cell_words import BARE, CALENDAR, WHOLE, Around, Rarity, Words
from finray.answering.cells.row_weights import (
    NO_FIT,
    PLACES,
    Fit,
    Reading,
    RowWeights,
    combined,
    place_worth,
    shipped_row_weights,
    weigh,
)
from finray.core.filing import LineItem
from finray.core.plan import Phrase
from finray.question.synonyms import variants, words_of

_TOTAL = frozenset(words_of("total"))
_MOVES = frozenset(words_of("increase decrease change period"))
_SLACK = 1 - 1e-9
"""Sums of the same weights in another order may differ in the last digit."""


class _Wording(NamedTuple):
    """One way to read a cell: which of the ``asked`` words are in ``words``. Words of ``label`` that are not asked for
    count against the cell; those ``excused`` are not checked for qualifiers. ``concept`` are the words of the row's tag
    if the cell is read by its tag."""

    asked: frozenset[str]
    words: Words
    label: frozenset[str]
    excused: frozenset[str] = frozenset()
    concept: frozenset[str] = frozenset()


class _Group(NamedTuple):
    """Variants of the phrase that read some cells alike except for their ``total`` weight, by the first of those with
    the least: its ``number`` and its words ``asked``."""

    shared: frozenset[str]
    total: float
    number: int
    asked: frozenset[str]


class Matcher:
    """Scores the cells of one filing for one phrase. Keeps the fits: a row is compared for several periods."""

    def __init__(self, phrase: Phrase, rarity: Rarity, weights: RowWeights | None = None) -> None:
        self._phrase = phrase
        self._rarity = rarity
        self._weights = weights or shipped_row_weights()
        self._worth = place_worth(self._weights)
        self._variants = list(dict.fromkeys(frozenset(words) for words in variants(phrase.words)))
        self._vocabulary = frozenset().union(*self._variants)
        self._groups: dict[frozenset[str], tuple[_Group, ...]] = {}
        self._limits: dict[Around, float] = {}
        self._fits: dict[tuple[Around, frozenset[str], bool], Fit] = {}

    def fit(self, item: LineItem) -> Fit:
        """The best fit over the wordings of the phrase."""
        around, metric = self._rarity.around(item), self._metric(item)
        if not metric and self._vocabulary.isdisjoint(around.every):
            return NO_FIT
        key = around, metric, item.statement is None
        fit = self._fits.get(key)
        if fit is None:
            fit = self._fits[key] = self._new_fit(item, around, metric)
        return fit

    def bound(self, item: LineItem) -> float:
        """An upper bound of the score of ``item``, for a fraction of the work."""
        if self._metric(item):
            return 1.0
        around = self._rarity.around(item)
        bound = self._limits.get(around)
        if bound is None:
            bound = 0.0
            if not self._vocabulary.isdisjoint(around.every):
                # A word of the concept counts as one of the row: more than anywhere else.
                bound = -min((each[0] for each in self._bounds(around, around.concept)), default=0.0)
            self._limits[around] = bound
        return bound

    def readings(self, item: LineItem) -> tuple[list[Reading], list[Reading]]:
        """All readings that share a word with the phrase: by the row's words, and by the words of its concept."""
        around = self._rarity.around(item)
        words, concept, metric = around.words, around.concept, self._metric(item)
        plain = [_Wording(asked, words, words.label) for asked in self._variants]
        plain += [self._by_metric(words, metric)] if metric else []
        tagged = [_Wording(asked, words, words.label, concept=concept) for asked in self._variants if concept]
        return self._all(item, plain), self._all(item, tagged)

    def _all(self, item: LineItem, wordings: Iterable[_Wording]) -> list[Reading]:
        return [reading for each in wordings if (reading := self._reading(item, each, 0.0)) is not None]

    def _metric(self, item: LineItem) -> frozenset[str]:
        """The words of the phrase that name the canonical line items of the row."""
        named = (names for key, names in self._phrase.metrics if self._rarity.is_named(key, item))
        return frozenset().union(*named)

    def _by_metric(self, words: Words, metric: frozenset[str]) -> _Wording:
        own = replace(words, label=words.label | metric, aside=frozenset())
        return _Wording(frozenset(self._phrase.words), own, metric, excused=metric)

    def _new_fit(self, item: LineItem, around: Around, metric: frozenset[str]) -> Fit:
        words, concept = around.words, around.concept
        plain = self._best(item, around, frozenset())
        if metric:
            own = self._reading(item, self._by_metric(words, metric), plain.score)
            if own is not None:
                plain = max(plain, weigh(own, self._weights), key=lambda fit: fit.score)
        return combined(plain, self._best(item, around, concept), self._weights) if concept else plain

    def _best(self, item: LineItem, around: Around, concept: frozenset[str]) -> Fit:
        """The best fit of a variant. Those that may win come first, so few are read in full."""
        words = around.words
        best, best_number = NO_FIT, 0
        for bound, number, group in sorted(self._bounds(around, concept)):
            if -bound < best.score * _SLACK:  # the rest of a reading only lowers the score
                break
            reading = self._reading(item, _Wording(group.asked, words, words.label, concept=concept), 0.0)
            fit = NO_FIT if reading is None else weigh(reading, self._weights)
            if (-fit.score, number) < (-best.score, best_number):
                best, best_number = fit, number
        return best

    def _bounds(self, around: Around, concept: frozenset[str]) -> list[tuple[float, int, _Group]]:
        """(negative bound of the score, number, group) of each group of variants."""
        words, weight = around.words, self._rarity.weight
        places = [(word, _place(word, words, concept)) for word in self._vocabulary & around.every]
        found = {word: self._worth[place] * weight(word) for word, place in places if place is not None}
        return [
            (-math.fsum([found[word] for word in group.shared]) / group.total, group.number, group)
            for group in self._groups_of(frozenset(found))
        ]

    def _groups_of(self, found: frozenset[str]) -> tuple[_Group, ...]:
        """One variant for each way to read a cell that has the words ``found`` around it."""
        groups = self._groups.get(found)
        if groups is None:
            first: dict[tuple[frozenset[str], int, bool], _Group] = {}
            for number, asked in enumerate(self._variants):
                shared = asked & found
                key = shared, qualifier_mask(asked), not asked.isdisjoint(_MOVES)
                total = self._rarity.total(asked)
                if shared and (key not in first or total < first[key].total):
                    first[key] = _Group(shared, total, number, asked)
            groups = self._groups[found] = tuple(first.values())
        return groups

    def _reading(self, item: LineItem, wording: _Wording, least: float) -> Reading | None:
        """The reading of ``item``; None if its score cannot exceed ``least``, as for nearly every row of a filing."""
        weight = self._rarity.weight
        asked, words, concept = wording.asked, wording.words, wording.concept
        places = [(place, weight(word)) for word in asked if (place := _place(word, words, concept)) is not None]
        if not places:
            return None
        total = self._rarity.total(asked)
        bound = math.fsum(self._worth[place] * value for place, value in places) / total
        if bound <= least:  # the rest only lowers the score
            return None
        # Exact sums: those of sets would differ in the last digit from process to process.
        found = {place: math.fsum(value for at, value in places if at == place) for place in PLACES}
        # A row of a segment or a class has the same tag as the whole. Words of the row that are neither in the question
        # nor in the tag distinguish it.
        surplus = wording.label - asked - concept - BARE
        note = item.statement is None and not concept
        agrees = (
            agreement(asked, concept, words, note)
            if concept
            else agreement(asked - wording.excused, wording.label - wording.excused, words, note)
        )
        lent = bool(asked & words.section - words.label)
        beside = not concept and (note or lent) and bool(words.section - asked - WHOLE)
        return Reading(
            total,
            **found,
            own=self._rarity.total(wording.label),
            surplus=math.fsum(map(weight, surplus)),
            named=self._rarity.total(concept),
            surplus_named=math.fsum(map(weight, concept - asked)),
            **agrees._asdict(),
            part=not words.whole and _names_part(words.column - asked - concept),
            moves=bool(concept & _MOVES) and not asked & _MOVES,
            beside=beside and not lent,
            beside_lent=beside and lent,
        )


def _names_part(column: frozenset[str]) -> bool:
    """Whether a column's words name a part: anything but dates, numbers and units."""
    return any(len(word) > 1 and not word.isdigit() for word in column - WHOLE - CALENDAR)


def _place(word: str, words: Words, concept: frozenset[str]) -> str | None:
    """Which of PLACES has the word; the concept's name counts as the row."""
    if word in concept:
        return "row"
    if word in words.label:
        return "aside" if word in words.aside else "row"
    if word in words.column:
        return "column"
    if word in words.section:
        return "section"
    if word not in words.caption:
        return None
    if words.label <= BARE:
        return "total_caption" if words.label == _TOTAL else "bare_caption"
    return "caption"

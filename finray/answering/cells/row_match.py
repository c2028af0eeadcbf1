"""How well a table cell matches a phrase: the words that it shares with the cell's row, section, column and caption.

Words that are rare among the rows of the filing count more, and qualifiers (current or deferred, foreign or domestic)
must agree (agreement.py). The weights of places and disagreements are fitted (row_weights.py). The match is lexical on
purpose: in an embedding "deferred tax assets" is close to "current taxes".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from finray.answering.cells.agreement import agreement, qualifier_mask
from finray.answering.cells.cell_words import BARE, Around, Rarity, Words
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
_NOWHERE = dict.fromkeys(PLACES, 0.0)
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
        self._bound_of: dict[frozenset[tuple[str, str]], float] = {}
        self._fits: dict[tuple[Around, bool], Fit] = {}

    def fit(self, item: LineItem, around: Around | None = None) -> Fit:
        """The best fit over the wordings of the phrase. ``around`` are the words around ``item``, if known."""
        around = around or self._rarity.around(item)
        if self.bound(item, around) == 0.0:
            return NO_FIT
        key = around, item.statement is None
        fit = self._fits.get(key)
        if fit is None:
            fit = self._fits[key] = self._new_fit(item, around, self._metric(item))
        return fit

    def bound(self, item: LineItem, around: Around | None = None) -> float:
        """An upper bound of the score of ``item``, for a fraction of the work; 0 only if the score is."""
        around = around or self._rarity.around(item)
        bound = self._limits.get(around)
        if bound is None:
            if self._phrase.metrics and self._metric(item):
                bound = 1.0
            elif not self.shares_word(around):
                return 0.0  # most rows; to keep that would take most of a matcher's memory
            else:  # a word of the concept counts as one of the row: more than anywhere else
                bound = self._bound(self._placed(self._vocabulary & around.every, around.words, around.concept))
            self._limits[around] = bound
        return bound

    def _bound(self, places: Mapping[str, str]) -> float:
        """The best bound of a variant. Rows of one table often share the same words with the phrase."""
        key = frozenset(places.items())
        bound = self._bound_of.get(key)
        if bound is None:
            bound = self._bound_of[key] = max((bound for bound, _, _ in self._bounds(places)), default=0.0)
        return bound

    def shares_word(self, around: Around) -> bool:
        """Whether one of the words ``around`` a cell is in a wording of the phrase."""
        return not self._vocabulary.isdisjoint(around.every)

    def readings(self, item: LineItem) -> tuple[list[Reading], list[Reading]]:
        """All readings that share a word with the phrase: by the row's words, and by the words of its concept."""
        around = self._rarity.around(item)
        words, concept, metric = around.words, around.concept, self._metric(item)
        plain = [_Wording(asked, words, words.label) for asked in self._variants]
        plain += [self._by_metric(words, metric)] if metric else []
        tagged = [_Wording(asked, words, words.label, concept=concept) for asked in self._variants if concept]
        return self._all(item, around, plain), self._all(item, around, tagged)

    def _all(self, item: LineItem, around: Around, wordings: Iterable[_Wording]) -> list[Reading]:
        placed = ((each, self._placed(each.asked, each.words, each.concept)) for each in wordings)
        return [self._reading(item, around, each, places) for each, places in placed if self._found(places) > 0]

    def _metric(self, item: LineItem) -> frozenset[str]:
        """The words of the phrase that name the canonical line items of the row."""
        named = (names for key, names in self._phrase.metrics if self._rarity.is_named(key, item))
        return frozenset().union(*named)

    def _by_metric(self, words: Words, metric: frozenset[str]) -> _Wording:
        own = replace(words, label=words.label | metric, aside=frozenset())
        return _Wording(frozenset(self._phrase.words), own, metric, excused=metric)

    def _new_fit(self, item: LineItem, around: Around, metric: frozenset[str]) -> Fit:
        concept = around.concept
        plain = self._best(item, around, frozenset())
        if metric:
            named = self._by_metric(around.words, metric)
            places = self._placed(named.asked, named.words, named.concept)
            if self._found(places) / self._rarity.total(named.asked) > plain.score:  # the rest only lowers the score
                own = weigh(self._reading(item, around, named, places), self._weights)
                plain = max(plain, own, key=lambda fit: fit.score)
        return combined(plain, self._best(item, around, concept), self._weights) if concept else plain

    def _best(self, item: LineItem, around: Around, concept: frozenset[str]) -> Fit:
        """The best fit of a variant. Those that may win come first, so few are read in full."""
        words = around.words
        places = self._placed(self._vocabulary & around.every, words, concept)
        best, best_number = NO_FIT, 0
        for bound, number, group in sorted(self._bounds(places), key=lambda each: (-each[0], each[1])):
            if bound < best.score * _SLACK or not bound:  # the rest of a reading only lowers the score
                break
            wording = _Wording(group.asked, words, words.label, concept=concept)
            fit = weigh(self._reading(item, around, wording, places), self._weights)
            if (-fit.score, number) < (-best.score, best_number):
                best, best_number = fit, number
        return best

    def _placed(self, asked: Iterable[str], words: Words, concept: frozenset[str]) -> dict[str, str]:
        """Which of PLACES has each word of ``asked`` that is around a cell."""
        return {word: place for word in asked if (place := _place(word, words, concept)) is not None}

    def _found(self, places: Mapping[str, str]) -> float:
        """The weight of words in their ``places``."""
        return math.fsum(self._worth[place] * self._rarity.weight(word) for word, place in places.items())

    def _bounds(self, places: Mapping[str, str]) -> list[tuple[float, int, _Group]]:
        """(bound of the score, number, group) of each group of variants."""
        weight, worth = self._rarity.weight, self._worth
        found = {word: worth[place] * weight(word) for word, place in places.items()}
        return [
            (math.fsum([found[word] for word in group.shared]) / group.total, group.number, group)
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

    def _reading(self, item: LineItem, around: Around, wording: _Wording, places: Mapping[str, str]) -> Reading:
        """The reading of ``item``, with the ``places`` of the words asked for."""
        weight, total = self._rarity.weight, self._rarity.total
        asked, words, label, concept = wording.asked, wording.words, wording.label, wording.concept
        found: dict[str, list[float]] = {}
        for word in asked & places.keys():
            found.setdefault(places[word], []).append(weight(word))
        # Exact sums: those of sets would differ in the last digit from process to process.
        sums = {place: math.fsum(weights) for place, weights in found.items()}
        # A row of a segment or a class has the same tag as the whole. Words of the row that are neither in the question
        # nor in the tag distinguish it.
        surplus = label - asked - concept - BARE
        note = item.statement is None and not concept
        if concept:
            agrees = agreement(asked, concept, words, note)
        elif wording.excused:
            agrees = agreement(asked - wording.excused, label - wording.excused, words, note)
        else:
            agrees = agreement(asked, label, words, note)
        lent = not asked.isdisjoint(words.section - words.label)
        beside = not concept and (note or lent) and not around.beside <= asked
        return Reading(
            total(asked),
            **(_NOWHERE | sums),
            own=total(label),
            surplus=math.fsum(map(weight, surplus)),
            named=total(concept),
            surplus_named=math.fsum(map(weight, concept - asked)),
            **agrees._asdict(),
            part=not words.whole and not around.part <= asked | concept,
            moves=not concept.isdisjoint(_MOVES) and asked.isdisjoint(_MOVES),
            beside=beside and not lent,
            beside_lent=beside and lent,
        )


def best_score(matchers: Iterable[Matcher], item: LineItem, around: Around) -> float:
    """The best score of ``item``, with the words ``around`` it, by several phrases; 0 without any."""
    best = 0.0
    for matcher in matchers:
        if matcher.bound(item, around) >= best * _SLACK:
            best = max(best, matcher.fit(item, around).score)
    return best


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

"""How well a cell of a table prints what a phrase asks for: words shared with its row, section, column and caption.

A word counts by how rare it is among the rows of the filing; qualifiers (current or deferred, foreign or domestic)
must agree. The measure is lexical on purpose: an embedding finds "deferred tax assets" much like "current taxes".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from finray.core.plan import Phrase
from finray.core.types import LineItem
from finray.core.vocabulary import MONTHS, NUMBERS, ORDINALS
from finray.filings.canonical import names_row
from finray.question.synonyms import qualifiers, variants, words_of

IN_COLUMN, IN_SECTION, IN_CAPTION, IN_ASIDE = 0.95, 0.95, 0.7, 0.6
"""What a word is worth outside the label."""
IN_UNASKED_TOTAL = 0.85
"""In the caption of a table whose total answers a question that may be about one of its rows."""
_TOTAL = frozenset(words_of("total"))
UNASKED_IN_CONCEPT = 0.3
"""The same of an XBRL concept's name."""
WORSE_READING = 0.3
"""Weight of the reading, by the row's words or by its concept's name, that fits worse."""
UNASKED = 0.35
"""How much a label of nothing but words that were not asked for would lose."""
_WEAK_WEIGHT = 0.3
_WEAK = frozenset(
    words_of(
        "total net amount amounts value expense expenses cost costs balance balances company segment segments "
        "segment's "
        "consolidated report reported recorded related including pay paid payments period other all table following "
        "recognized "
        "information group number level nominal  company's "
        "less loss losses income benefit provided used using disclosed type"
    )
) - set(words_of("income other"))
_OF_WHOLE_TABLE = frozenset(words_of("deferred unrecognized"))
"""Qualifiers that a caption says of every row."""
_BARE = frozenset(words_of("total balance balances beginning ending end year period gross net amount")) | {"begin"}
"""A label of nothing but these says no more than its table's caption: "Balance at end of year"."""
_CALENDAR = frozenset(
    words_of(
        " ".join([*MONTHS, *ORDINALS, *NUMBERS])
        + " fiscal year years month months week weeks quarter period ended ending end"
    )
)
_WHOLE = frozenset(
    words_of("total consolidated company reported amount amounts actual value gaap carrying net number usd")
)


_FOOTNOTE = re.compile(r"\(\s*(?:\d{1,2}|[a-z]|(?:see )?notes? [^()]*)\s*\)", re.I)
_LEFT_OUT = re.compile(r"\b(?:net of|excluding|exclusive of|before|less|except)\b", re.I)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one cell's surroundings; ``aside`` are those behind "net of", which say what the figure is not."""

    label: frozenset[str]
    aside: frozenset[str]
    section: frozenset[str]
    column: frozenset[str]
    caption: frozenset[str]
    whole: bool = False
    """A tag says that the figure is of the whole company, whatever stands over its column."""


@dataclass(frozen=True, slots=True)
class Fit:
    """``score`` ranks cells; ``coverage`` is the weighted share of the asked words that stand around the cell."""

    score: float
    coverage: float


_NO_FIT = Fit(0.0, 0.0)


class Rarity:
    """How much each word tells rows of one filing apart."""

    def __init__(self, items: Iterable[LineItem]) -> None:
        rows = {(item.page, item.row): item for item in items}
        counts: Counter[str] = Counter()
        for item in rows.values():
            words = words_around(item)
            counts.update(words.label | words.section | words.column | concept_words(item.concept))
        self._counts = counts
        self._rows = max(len(rows), 1)
        self._weights: dict[str, float] = {}

    def weight(self, word: str) -> float:
        weight = self._weights.get(word)
        if weight is None:
            rare = math.log(1 + self._rows / (1 + self._counts[word]))
            weight = self._weights[word] = rare * (_WEAK_WEIGHT if word in _WEAK else 1.0)
        return weight


def words_around(item: LineItem) -> Words:
    label = _FOOTNOTE.sub(" ", item.label)
    match = _LEFT_OUT.search(label)
    start = match.start() if match is not None and match.start() > 0 else len(label)
    aside = _words(label[start:])
    return Words(
        _words(label),
        aside - _words(label[:start]),
        _words(item.section or ""),
        _words(item.column_label or ""),
        _words(item.caption or ""),
        item.concept is not None and "[" not in (item.column_label or ""),
    )


@lru_cache(maxsize=20_000)
def concept_words(concept: str | None) -> frozenset[str]:
    """The words of an XBRL concept's name: "us-gaap:OtherAccruedLiabilitiesCurrent" may be a row labelled "Other"."""
    name = (concept or "").rpartition(":")[2]
    return frozenset(words_of(" ".join(_CAMEL.findall(name)))) - _TAXONOMY


@lru_cache(maxsize=200_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(words_of(text))


_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
_TAXONOMY = frozenset(words_of("excluding assessed including contract customer value amount carrying disclosure at"))
"""Words of concept names that tell no row from another."""
_MOVES = frozenset(words_of("increase decrease change period"))


class Matcher:
    """Scores cells of one filing against one phrase."""

    def __init__(self, phrase: Phrase, rarity: Rarity) -> None:
        self._phrase = phrase
        self._rarity = rarity
        self._variants = list(dict.fromkeys(frozenset(words) for words in variants(phrase.words)))

    def fit(self, item: LineItem) -> Fit:
        """The best fit over the wordings of the phrase."""
        words = words_around(item)
        metric = frozenset(word for key, names in self._phrase.metrics if names_row(key, item) for word in names)
        note = item.statement is None
        best = _NO_FIT
        for asked in self._variants:
            best = self._fit(asked, words, note, best)
        if metric:
            own = frozenset(self._phrase.words)
            best = self._fit(own, replace(words, label=words.label | metric, aside=frozenset()), note, best, metric)
        concept = concept_words(item.concept)
        if not concept:
            return best
        tagged = _NO_FIT
        for asked in self._variants:
            tagged = self._by_concept(asked, words, concept, tagged)
        first, second = sorted((best, tagged), key=lambda fit: -fit.score)
        return Fit((1 - WORSE_READING) * first.score + WORSE_READING * second.score, first.coverage)

    def _by_concept(self, asked: frozenset[str], words: Words, concept: frozenset[str], best: Fit) -> Fit:
        """The row read by its tag. A row of a segment or a class shares the tag of the whole: its own words, where
        neither the question nor the tag says them, tell it apart. ``best`` where it is no better."""
        weight = self._rarity.weight
        total = sum(weight(word) for word in asked)
        held = sum(weight(word) * (1.0 if word in concept else _place(word, words)) for word in asked)
        if not held or held / total <= best.score:  # what follows only lowers the score
            return best
        coverage = held / total
        own = sum(weight(word) for word in words.label)
        member = sum(weight(word) for word in words.label - asked - concept - _BARE) / own if own else 0.0
        named = sum(weight(word) for word in concept)
        unasked = sum(weight(word) for word in concept - asked) / named
        score = coverage * (1 - UNASKED * member) * (1 - UNASKED_IN_CONCEPT * unasked)
        score *= _agreement(asked, concept, replace(words, label=concept, aside=frozenset()), False)
        if concept & _MOVES and not asked & _MOVES:
            score *= 0.7
        if not words.whole and _telling(words.column - asked - concept):
            score *= 0.75
        return Fit(score, coverage) if score > best.score else best

    def _fit(
        self, asked: frozenset[str], words: Words, note: bool, best: Fit, metric: frozenset[str] = frozenset()
    ) -> Fit:
        """``best`` where this wording is no better."""
        total = sum(self._rarity.weight(word) for word in asked)
        held = sum(self._rarity.weight(word) * _place(word, words) for word in asked)
        if not held or held / total <= best.score:  # nearly every row of a filing; what follows only lowers the score
            return best
        coverage = held / total
        label = metric or words.label
        own = sum(self._rarity.weight(word) for word in label)
        unasked = sum(self._rarity.weight(word) for word in label - asked - _BARE) / own if own else 0.0
        score = coverage * (1 - UNASKED * unasked) * _agreement(asked - metric, label - metric, words, note)
        if not words.whole and _telling(words.column - asked):
            score *= 0.75
        lent = asked & words.section - words.label
        if (note or lent) and words.section - asked - _WHOLE:
            score *= 0.9 if lent else 0.95
        return Fit(score, coverage) if score > best.score else best


def _telling(column: frozenset[str]) -> bool:
    """Whether a column's words name a part: anything but dates, numbers and signs of units."""
    return any(len(word) > 1 and not word.isdigit() for word in column - _WHOLE - _CALENDAR)


def _place(word: str, words: Words) -> float:
    if word in words.label:
        return IN_ASIDE if word in words.aside else 1.0
    if word in words.column:
        return IN_COLUMN
    if word in words.section:
        return IN_SECTION
    if word in words.caption:
        return (IN_UNASKED_TOTAL if words.label == _TOTAL else IN_SECTION) if words.label <= _BARE else IN_CAPTION
    return 0.0


def _agreement(asked: Collection[str], label: Collection[str], words: Words, note: bool) -> float:
    """1 where every qualifier agrees, less for each that is missing, contradicted or not asked for."""
    asked, near = set(asked), set(label) | words.column
    around = near | words.section | words.caption
    heading = words.section | (words.caption & _OF_WHOLE_TABLE) if note else frozenset()
    result = 1.0
    for line in _opposed():
        for side, others in line:
            if side & asked:
                if not side & around:
                    result *= 0.65
                if others & near and not others & asked and not side & near:
                    result *= 0.4
                break
        else:
            if any(side & near for side, _ in line):
                result *= 0.92
            elif any(side & heading for side, _ in line):
                result *= 0.85 if asked - set(label) else 0.95
    return result


@cache
def _opposed() -> tuple[tuple[tuple[frozenset[str], frozenset[str]], ...], ...]:
    """The qualifiers, each side of a line with the words of all its other sides."""
    return tuple(
        tuple((side, frozenset().union(*(other for other in line if other is not side))) for side in line)
        for line in qualifiers()
    )

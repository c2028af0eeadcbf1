"""How well a table cell matches a phrase: the words that it shares with the cell's row, section, column and caption.

Rare words among the rows of the filing count more; qualifiers (current or deferred, foreign or domestic) must agree.
The match is lexical on purpose: in an embedding "deferred tax assets" is close to "current taxes". The weights of
places and disagreements are fitted (row_weights.py).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

from finray.answering.row_weights import (
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
from finray.core.plan import Phrase
from finray.core.types import LineItem
from finray.core.vocabulary import MONTHS, NUMBERS, ORDINALS
from finray.filings.canonical import names_row
from finray.question.synonyms import qualifiers, variants, words_of

_TOTAL = frozenset(words_of("total"))
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
_OFWHOLE_TABLE = frozenset(words_of("deferred unrecognized"))
"""Qualifiers that apply to every row if they are in the caption."""
BARE = frozenset(words_of("total balance balances beginning ending end year period gross net amount")) | {"begin"}
"""A label of only these words adds nothing to the caption of its table: "Balance at end of year"."""
CALENDAR = frozenset(
    words_of(
        " ".join([*MONTHS, *ORDINALS, *NUMBERS])
        + " fiscal year years month months week weeks quarter period ended ending end"
    )
)
WHOLE = frozenset(
    words_of("total consolidated company reported amount amounts actual value gaap carrying net number usd")
)


_YEAR_LABEL = re.compile(r"(?:fiscal\s)?(?:years?\s)?(?:19|20)\d\d", re.I)
"""The label of a row in a schedule by years: it adds nothing to the caption of its table."""
_FOOTNOTE = re.compile(r"\(\s*(?:\d{1,2}|[a-z]|(?:see )?notes? [^()]*)\s*\)", re.I)
_LEFT_OUT = re.compile(r"\b(?:net of|excluding|exclusive of|before|less|except)\b", re.I)


@dataclass(frozen=True, slots=True)
class Words:
    """The words around one cell; ``aside`` are those of the label after "net of", which the figure excludes."""

    label: frozenset[str]
    aside: frozenset[str]
    section: frozenset[str]
    column: frozenset[str]
    caption: frozenset[str]
    whole: bool = False
    """A tag marks the figure as that of the whole company, whatever the heading of its column."""


class Rarity:
    """How well each word distinguishes rows of one filing. ``weak_word`` is the factor for words that are in most
    captions, by default the fitted one."""

    def __init__(self, items: Iterable[LineItem], weak_word: float | None = None) -> None:
        self._weak_word = shipped_row_weights().weak_word if weak_word is None else weak_word
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
            weight = self._weights[word] = rare * (self._weak_word if word in _WEAK else 1.0)
        return weight


def words_around(item: LineItem) -> Words:
    label = _FOOTNOTE.sub(" ", item.label)
    match = _LEFT_OUT.search(label)
    start = match.start() if match is not None and match.start() > 0 else len(label)
    aside = _words(label[start:])
    return Words(
        frozenset() if _YEAR_LABEL.fullmatch(item.label.strip()) else _words(label),
        aside - _words(label[:start]),
        _words(item.section or ""),
        _words(item.column_label or ""),
        _words(item.caption or ""),
        item.concept is not None and "[" not in (item.column_label or ""),
    )


@lru_cache(maxsize=20_000)
def concept_words(concept: str | None) -> frozenset[str]:
    """The words of an XBRL concept's name: "us-gaap:OtherAccruedLiabilitiesCurrent" may tag a row labeled "Other"."""
    name = (concept or "").rpartition(":")[2]
    return frozenset(words_of(" ".join(_CAMEL.findall(name)))) - _TAXONOMY


@lru_cache(maxsize=200_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(words_of(text))


_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
_TAXONOMY = frozenset(words_of("excluding assessed including contract customer value amount carrying disclosure at"))
"""Words of concept names that do not distinguish rows."""
_MOVES = frozenset(words_of("increase decrease change period"))


class _Wording(NamedTuple):
    """One way to read a cell: which ``asked`` words are in ``words``. Words of ``label`` count against the cell if they
    are neither asked for nor ``excused``. ``concept`` are the words of the row's tag if the cell is read by it."""

    asked: frozenset[str]
    words: Words
    label: frozenset[str]
    excused: frozenset[str] = frozenset()
    concept: frozenset[str] = frozenset()


class Matcher:
    """Scores cells of one filing for one phrase."""

    def __init__(self, phrase: Phrase, rarity: Rarity, weights: RowWeights | None = None) -> None:
        self._phrase = phrase
        self._rarity = rarity
        self._weights = weights or shipped_row_weights()
        self._worth = place_worth(self._weights)
        self._variants = list(dict.fromkeys(frozenset(words) for words in variants(phrase.words)))

    def fit(self, item: LineItem) -> Fit:
        """The best fit over the wordings of the phrase."""
        plain, tagged = (self._best(item, wordings) for wordings in self._wordings(item))
        return combined(plain, tagged, self._weights) if item.concept and concept_words(item.concept) else plain

    def readings(self, item: LineItem) -> tuple[list[Reading], list[Reading]]:
        """All readings with a word in common: by the row's words, and by the words of its concept."""
        plain, tagged = (
            [reading for wording in wordings if (reading := self._reading(item, wording, 0.0)) is not None]
            for wordings in self._wordings(item)
        )
        return plain, tagged

    def _wordings(self, item: LineItem) -> tuple[list[_Wording], list[_Wording]]:
        words = words_around(item)
        plain = [_Wording(asked, words, words.label) for asked in self._variants]
        metric = frozenset(word for key, names in self._phrase.metrics if names_row(key, item) for word in names)
        if metric:
            own = replace(words, label=words.label | metric, aside=frozenset())
            plain.append(_Wording(frozenset(self._phrase.words), own, metric, excused=metric))
        concept = concept_words(item.concept)
        tagged = [_Wording(asked, words, words.label, concept, concept) for asked in self._variants if concept]
        return plain, tagged

    def _best(self, item: LineItem, wordings: Iterable[_Wording]) -> Fit:
        best = NO_FIT
        for wording in wordings:
            reading = self._reading(item, wording, best.score)
            if reading is not None:
                fit = weigh(reading, self._weights)
                best = fit if fit.score > best.score else best
        return best

    def _reading(self, item: LineItem, wording: _Wording, least: float) -> Reading | None:
        """None if the score cannot exceed ``least``, as for nearly every row of a filing."""
        weight = self._rarity.weight
        asked, words, concept = wording.asked, wording.words, wording.concept
        places = [(place, weight(word)) for word in asked if (place := _place(word, words, concept)) is not None]
        if not places:
            return None
        total = sum(map(weight, asked))
        if (
            sum(self._worth[place] * value for place, value in places) / total <= least
        ):  # the rest only lowers the score
            return None
        found = dict.fromkeys(PLACES, 0.0)
        for place, value in places:
            found[place] += value
        # A row of a segment or a class has the same tag as the whole. Words of the row that are neither in the question
        # nor in the tag distinguish it.
        surplus = wording.label - asked - concept - BARE
        note = item.statement is None and not concept
        if concept:
            agreement = _agreement(asked, concept, replace(words, label=concept, aside=frozenset()), note)
        else:
            agreement = _agreement(asked - wording.excused, wording.label - wording.excused, words, note)
        lent = bool(asked & words.section - words.label)
        beside = not concept and (note or lent) and bool(words.section - asked - WHOLE)
        return Reading(
            total,
            **found,
            own=sum(weight(word) for word in wording.label),
            surplus=sum(weight(word) for word in surplus),
            named=sum(weight(word) for word in concept),
            surplus_named=sum(weight(word) for word in concept - asked),
            **agreement,
            part=not words.whole and _names_part(words.column - asked - concept),
            moves=bool(concept & _MOVES) and not asked & _MOVES,
            beside=beside and not lent,
            beside_lent=beside and lent,
        )


def _names_part(column: frozenset[str]) -> bool:
    """Whether a column's words name a part: anything but dates, numbers and units."""
    return any(len(word) > 1 and not word.isdigit() for word in column - WHOLE - CALENDAR)


def _place(word: str, words: Words, concept: frozenset[str]) -> str | None:
    """Which of PLACES prints the word; the concept's name counts as the row."""
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


def _agreement(asked: Collection[str], label: Collection[str], words: Words, note: bool) -> dict[str, int]:
    """Counts of qualifiers: missing, contradicted, or not asked for (in row or column, or in the heading)."""
    asked, near = set(asked), set(label) | words.column
    around = near | words.section | words.caption
    heading = words.section | (words.caption & _OFWHOLE_TABLE) if note else frozenset()
    counts = dict.fromkeys(("missing", "contradicted", "unasked_near", "unasked_heading", "unasked_heading_lent"), 0)
    for line in _opposed():
        for side, others in line:
            if side & asked:
                counts["missing"] += not side & around
                counts["contradicted"] += bool(others & near and not others & asked and not side & near)
                break
        else:
            if any(side & near for side, _ in line):
                counts["unasked_near"] += 1
            elif any(side & heading for side, _ in line):
                counts["unasked_heading_lent" if asked - set(label) else "unasked_heading"] += 1
    return counts


@cache
def _opposed() -> tuple[tuple[tuple[frozenset[str], frozenset[str]], ...], ...]:
    """The qualifiers: each side of a line with the words of all other sides."""
    return tuple(
        tuple((side, frozenset().union(*(other for other in line if other is not side))) for side in line)
        for line in qualifiers()
    )

"""The words around a table cell, and how rare each is among the rows of its filing.

A :class:`Rarity` is kept per filing while questions are about it, and remembers the words of every cell compared: a
question compares the same rows for several periods, wordings and rounds.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from finray.answering.cells.row_weights import shipped_row_weights
from finray.core.filing import LineItem
from finray.core.vocabulary import MONTHS, NUMBERS, ORDINALS
from finray.filings.tables.canonical import names_row
from finray.filings.tables.tags import words_of_name
from finray.question.synonyms import word_set, words_of

_WEAK = frozenset(
    words_of(
        "total net amount value expense cost balance company segment consolidated report reported recorded related "
        "including pay paid payments period all table following recognized information group number level nominal less "
        "loss benefit provided used using disclosed type"
    )
)
"""Words that are in most captions, so they distinguish rows poorly."""
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
_TAXONOMY = frozenset(words_of("excluding assessed including contract customer value amount carrying disclosure at"))
"""Words of concept names that do not distinguish rows."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words around one cell. ``aside`` are those of the label after "net of": the figure excludes them."""

    label: frozenset[str]
    aside: frozenset[str]
    section: frozenset[str]
    column: frozenset[str]
    caption: frozenset[str]
    whole: bool = False
    """A tag marks the figure as the whole company's, whatever the heading of its column."""


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """``words`` around a cell, those of its ``concept``, and ``every`` word of both. ``part`` are the words of the
    column that name a part of the company, ``beside`` those of the section that qualify the row. All cells of a filing
    with the same texts share one object, so compare by identity."""

    words: Words
    concept: frozenset[str]
    every: frozenset[str]
    part: frozenset[str]
    beside: frozenset[str]

    @classmethod
    def of(cls, words: Words, concept: frozenset[str]) -> Around:
        every = words.label | words.column | words.section | words.caption | concept
        return cls(words, concept, every, _naming_part(words.column), _qualifying(words.section))


class _Weights(dict[str, float]):
    """Weights by word, computed on first use from how many of ``rows`` have the word."""

    def __init__(self, counts: Mapping[str, int], rows: int, weak_word: float) -> None:
        self._counts, self._rows, self._weak_word = counts, rows, weak_word

    def __missing__(self, word: str) -> float:
        rare = math.log(1 + self._rows / (1 + self._counts.get(word, 0)))
        weight = self[word] = rare * (self._weak_word if word in _WEAK else 1.0)
        return weight


class Rarity:
    """How well each word distinguishes the rows of one filing. ``weak_word`` is the factor for words that are in most
    captions; by default the fitted one."""

    def __init__(self, items: Iterable[LineItem], weak_word: float | None = None) -> None:
        self._around: dict[tuple[str | None, ...], Around] = {}
        self._named: dict[str, frozenset[tuple[str, str | None]]] = {}
        rows = {(item.page, item.row): item for item in items}
        self._printed = {(item.label, item.section): item for item in rows.values()}
        counts: Counter[str] = Counter()
        for item in rows.values():
            around = self.around(item)
            counts.update(around.words.label | around.words.section | around.words.column | around.concept)
        weak = shipped_row_weights().weak_word if weak_word is None else weak_word
        self._weights = _Weights(counts, max(len(rows), 1), weak)
        self._totals: dict[frozenset[str], float] = {}
        self.weight: Callable[[str], float] = self._weights.__getitem__
        """The weight of a word: the fewer rows have it, the larger."""

    def total(self, words: frozenset[str]) -> float:
        """The exact sum of the weights of ``words``, kept: only for sets that recur."""
        total = self._totals.get(words)
        if total is None:
            total = self._totals[words] = math.fsum(map(self.weight, words))
        return total

    def around(self, item: LineItem) -> Around:
        """The words around ``item``, computed once for all cells with the same texts."""
        key = item.label, item.section, item.column_label, item.caption, item.concept
        around = self._around.get(key)
        if around is None:
            around = self._around[key] = Around.of(_words_around(item), concept_words(item.concept))
        return around

    def is_named(self, metric: str, item: LineItem) -> bool:
        """Whether the label of ``item`` is one of ``metric``, a canonical line item."""
        key = item.label, item.section
        if key not in self._printed:  # in a sentence
            return names_row(metric, item)
        named = self._named.get(metric)
        if named is None:
            rows = self._printed.items()
            named = self._named[metric] = frozenset(row for row, printed in rows if names_row(metric, printed))
        return key in named


def _words_around(item: LineItem) -> Words:
    label, aside = _label_words(item.label)
    return Words(
        label,
        aside,
        word_set(item.section or ""),
        word_set(item.column_label or ""),
        word_set(item.caption or ""),
        item.concept is not None and "[" not in (item.column_label or ""),
    )


@lru_cache(maxsize=8192)
def _naming_part(column: frozenset[str]) -> frozenset[str]:
    """The words of a column that name a part: anything but dates, numbers and units."""
    return frozenset(word for word in column - WHOLE - CALENDAR if len(word) > 1 and not word.isdigit())


@lru_cache(maxsize=8192)
def _qualifying(section: frozenset[str]) -> frozenset[str]:
    """The words of a section that qualify its rows. Cached, so that cells share them."""
    return section - WHOLE


@lru_cache(maxsize=8192)
def _label_words(label: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a label, and those of them that are aside."""
    bare = _FOOTNOTE.sub(" ", label)
    match = _LEFT_OUT.search(bare)
    start = match.start() if match is not None and match.start() > 0 else len(bare)
    words: frozenset[str] = frozenset() if _YEAR_LABEL.fullmatch(label.strip()) else word_set(bare)
    return words, word_set(bare[start:]) - word_set(bare[:start])


@lru_cache(maxsize=8192)
def concept_words(concept: str | None) -> frozenset[str]:
    """The words of an XBRL concept's name: "us-gaap:OtherAccruedLiabilitiesCurrent" may tag a row labeled "Other"."""
    return frozenset(words_of(" ".join(words_of_name(concept or "")))) - _TAXONOMY

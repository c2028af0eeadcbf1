"""Features of every sentence that may answer a question, most of them shares in [0, 1].

They compare the question with the words, figures and years of the sentence, its heading and its neighbors, and the kind
of answer asked for (a cause, a person, a date, an amount) with cues in the sentence and the SEC Item of its page.
``FEATURES`` names the columns; ``sentence_model.json`` has their weights.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from finray.answering.asked_words import asked_words
from finray.answering.sentences.cues import FIGURE, KINDS, YEAR, cues, kinds_asked
from finray.core.arrays import Floats
from finray.core.query import Query
from finray.filings.pages.sentences import Sentence, page_sentences
from finray.index.reading.facts import IndexedPage
from finray.models.encoder import Vectors
from finray.question.synonyms import variants, word_set, words_of
from finray.question.terms import stem
from finray.question.words import word_list
from finray.retrieval.item_lexicon import item_affinity

_GROUPS: Final[Mapping[str, frozenset[str]]] = {
    "business": frozenset({"1", "2", "P2-5"}),
    "risks": frozenset({"1A", "P2-1A"}),
    "legal": frozenset({"3", "P2-1"}),
    "discussion": frozenset({"7", "7A", "P1-2", "P1-3"}),
    "statements": frozenset({"8", "P1-1"}),
    "controls": frozenset({"9A", "P1-4", "9", "9B"}),
    "governance": frozenset({"10", "11", "12", "13", "14", "15", "4"}),
}
_ITEM_KINDS: Final = ("cause", "person", "other")

FEATURES: Final[Mapping[str, str]] = {
    "words": "share of the question's words (by rarity) in the sentence",
    "best_words": "the same, scaled by the best sentence of the question",
    "near": "share of the question's words in sentence, heading and neighbors",
    "before": "share of the question's words in the sentence before",
    "heading": "share of the question's words in the heading",
    "cause_near": "near, for a cue of a cause in an answer to a question of a cause",
    "cause_before": "the same with the sentence before",
    "cause_figures": "the question's figures, for a cue of a cause in an answer to a question of a cause",
    "cause_moves": "the same with the direction of movement",
    "person_near": "the same with near for a cue of a person",
    "pairs": "share of the question's adjacent word pairs in the sentence",
    "figures": "share of the question's figures in the sentence",
    "figures_near": "share of the question's figures in the neighbors",
    "years": "share of the question's years in sentence and heading",
    "other_years": "the sentence has years, none of them asked for",
    "undated": "the sentence has no year, and the question names one",
    "moves": "1 if question and sentence move in one direction, -1 in opposite ones",
    **{f"{kind}": f"cue of {kind} in an answer to a question of that kind" for kind in KINDS},
    **{f"{kind}_unasked": f"cue of {kind}, not asked for" for kind in KINDS},
    "amount": "a figure, for a question that asks for an amount",
    "no_amount": "no figure, for a question that asks for an amount",
    "new_words": "words that are not in the question, up to twenty",
    "hedged": "may, could, might: a risk or a policy",
    "refers": "refers to another place",
    "introduces": "ends with a colon",
    "dangling": "begins with a word that refers to the sentence before",
    "signed": "a signature",
    "signed_asked": "a signature, and the question is about who signed or audited",
    "unended": "has no punctuation at its end",
    "first": "the first sentence of its paragraph",
    "top": "how far up on the page it is",
    "length": "logarithm of its number of words",
    "short": "fewer than ten words",
    "read": "probability of answering, by the sentence reader; 0 for sentences that it did not read",
    "read_best": "the same in log odds, a quarter, below that of the best sentence, at least -3",
    "unread": "not among the likeliest sentences, which the sentence reader reads",
    "page": "logarithm of the page's probability",
    "page_rank": "1 / rank of its page",
    "other_filing": "not of the first page's filing",
    "chunk": "cosine of question and chunk",
    "best_chunk": "the same below that of the best chunk",
    "affinity": "how much more often pages of its SEC Item use the question's words than others",
    **{f"{group}_{kind}": f"Item of {group}, asked for {kind}" for group in _GROUPS for kind in _ITEM_KINDS},
}
_COLUMN: Final = {name: at for at, name in enumerate(FEATURES)}
_UP = frozenset(map(stem, word_list("up")))
_DOWN = frozenset(map(stem, word_list("down")))
_LEAST_SCORE = 1e-4
_MOST_NEW = 20
FARTHEST: Final = -3.0
"""Least value of ``read_best``, and its value for what the sentence reader did not read."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Every sentence of ``pages``; ``numbers`` has the number of each sentence's page, ``features`` is float64
    [len(sentences), len(FEATURES)]. ``figures`` are the sentence reader's log odds of a figure to be the one asked for,
    by the number of its sentence and where it starts, for the sentences that it read."""

    pages: tuple[IndexedPage, ...]
    sentences: tuple[Sentence, ...]
    numbers: tuple[int, ...]
    features: Floats
    figures: Mapping[tuple[int, int], float] = field(default_factory=dict)

    def only(self, kept: Sequence[bool]) -> Candidates:
        """The sentences that are ``kept``, before any is read."""
        numbers = tuple(itertools.compress(self.numbers, kept))
        sentences = tuple(itertools.compress(self.sentences, kept))
        return Candidates(self.pages, sentences, numbers, self.features[np.asarray(kept, dtype=np.bool_)])

    def in_one_paragraph(self, one: int, other: int) -> bool:
        """Whether both sentences exist, in one paragraph."""
        if not (0 <= one < len(self.sentences) and 0 <= other < len(self.sentences)):
            return False
        same_page = self.numbers[one] == self.numbers[other]
        return same_page and self.sentences[one].block == self.sentences[other].block


def candidates(query: Query, pages: Sequence[IndexedPage], scores: Sequence[float], vector: Vectors) -> Candidates:
    """Every sentence of ``pages``, best page first, with its features; ``scores`` are the pages' probabilities,
    ``vector`` is the question's."""
    sentences: list[Sentence] = []
    numbers: list[int] = []
    for number, page in enumerate(pages):
        own = page_sentences(page.text, page.headings)
        sentences += own
        numbers += [number] * len(own)
    features = np.zeros((len(sentences), len(FEATURES)))
    if sentences:
        for name, values in cues(query, sentences).items():
            _fill(features, name, values)
        paragraphs = [(number, sentence.block) for number, sentence in zip(numbers, sentences, strict=True)]
        _words(features, query, sentences, paragraphs)
        _figures_and_years(features, query, sentences, paragraphs)
        _places(features, query, sentences, numbers, pages, scores, vector)
        _fill(features, "first", [True, *(a != b for a, b in itertools.pairwise(paragraphs))])
    return Candidates(tuple(pages), tuple(sentences), tuple(numbers), features)


def _words(
    features: Floats, query: Query, sentences: Sequence[Sentence], paragraphs: Sequence[tuple[int, int]]
) -> None:
    asked = asked_words(query)
    own = [word_set(sentence.text) for sentence in sentences]
    headings = [word_set(sentence.heading) for sentence in sentences]
    before, after = _neighbors(own, paragraphs)
    near = [frozenset().union(*words) for words in zip(own, headings, before, after, strict=True)]
    counts = Counter(word for words in own for word in words)
    readings = [reading for wording in variants(asked) if (reading := tuple(dict.fromkeys(wording)))]
    rarity = {word: math.log(1 + len(own) / (1 + counts[word])) for reading in readings for word in reading}
    printed_only = {word: weight if counts[word] else 0.0 for word, weight in rarity.items()}
    shares = _shares(rarity, readings, own)
    best = max(shares) or 1.0
    _fill(features, "words", shares)
    _fill(features, "best_words", [share / best for share in shares])
    near_shares = np.asarray(_shares(printed_only, readings, near))
    before_shares = np.asarray(_shares(printed_only, readings, before))
    cause = features[:, _COLUMN["cause"]]
    _fill(features, "near", near_shares)
    _fill(features, "before", before_shares)
    _fill(features, "heading", _shares(printed_only, readings, headings))
    _fill(features, "cause_near", cause * near_shares)
    _fill(features, "cause_before", cause * before_shares)
    _fill(features, "person_near", features[:, _COLUMN["person"]] * near_shares)
    pairs = set(itertools.pairwise(asked))
    if pairs:
        _fill(features, "pairs", [len(pairs & _pairs(sentence.text)) / len(pairs) for sentence in sentences])
    _fill(features, "new_words", [min(_MOST_NEW, len(words.difference(asked))) / _MOST_NEW for words in own])
    direction = _direction(frozenset(words_of(query.text)))
    moves = np.asarray([direction * _direction(words) for words in own])
    _fill(features, "moves", moves)
    _fill(features, "cause_moves", cause * moves)


def _figures_and_years(
    features: Floats, query: Query, sentences: Sequence[Sentence], paragraphs: Sequence[tuple[int, int]]
) -> None:
    wanted = {number for number in FIGURE.findall(query.text) if not YEAR.fullmatch(number) and len(number) > 1}
    if wanted:
        printed = [frozenset(FIGURE.findall(sentence.text)) for sentence in sentences]
        shares = np.asarray([len(wanted & figures) / len(wanted) for figures in printed])
        beside = zip(*_neighbors(printed, paragraphs), strict=True)
        _fill(features, "figures", shares)
        _fill(features, "figures_near", [len(wanted & (before | after)) / len(wanted) for before, after in beside])
        _fill(features, "cause_figures", features[:, _COLUMN["cause"]] * shares)
    years = {str(year) for year in query.years}
    if years:
        dated = [set(YEAR.findall(f"{sentence.heading} {sentence.text}")) for sentence in sentences]
        _fill(features, "years", [len(years & each) / len(years) for each in dated])
        _fill(features, "other_years", [bool(each) and not years & each for each in dated])
        _fill(features, "undated", [not each for each in dated])


def _places(
    features: Floats,
    query: Query,
    sentences: Sequence[Sentence],
    numbers: Sequence[int],
    pages: Sequence[IndexedPage],
    scores: Sequence[float],
    vector: Vectors,
) -> None:
    by_page = [math.log10(max(score, _LEAST_SCORE)) / 4 for score in scores]
    cosines = [page.vectors @ vector for page in pages]
    chunk = [
        _chunk_cosine(sentence, pages[n].spans, cosines[n]) for n, sentence in zip(numbers, sentences, strict=True)
    ]
    _fill(features, "chunk", chunk)
    _fill(features, "best_chunk", [each - max(chunk) for each in chunk])
    lengths = [max(1, len(page.text)) for page in pages]
    _fill(features, "top", [1 - s.start / lengths[n] for n, s in zip(numbers, sentences, strict=True)])
    _fill(features, "page", [by_page[number] for number in numbers])
    _fill(features, "page_rank", [1 / (1 + number) for number in numbers])
    _fill(features, "other_filing", [pages[number].filing_id != pages[0].filing_id for number in numbers])
    terms = asked_words(query)
    affinity = [item_affinity(terms, page.item) for page in pages]
    _fill(features, "affinity", [affinity[number] for number in numbers])
    asked = kinds_asked(query)
    kind = next((each for each in _ITEM_KINDS if each in asked), "other")
    for group, items in _GROUPS.items():
        _fill(features, f"{group}_{kind}", [pages[number].item in items for number in numbers])


@lru_cache(maxsize=4096)
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(itertools.pairwise(words_of(text)))


def _neighbors(
    values: Sequence[frozenset[str]], paragraphs: Sequence[tuple[int, int]]
) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The values of the sentences before and after each one, empty outside its paragraph."""
    nothing: frozenset[str] = frozenset()
    together = [one == other for one, other in itertools.pairwise(paragraphs)]
    before = [value if same else nothing for value, same in zip(values[:-1], together, strict=True)]
    after = [value if same else nothing for value, same in zip(values[1:], together, strict=True)]
    return [nothing, *before], [*after, nothing]


def _shares(
    rarity: Mapping[str, float], readings: Sequence[Sequence[str]], texts: Sequence[frozenset[str]]
) -> list[float]:
    """The largest share of a reading's words, by rarity, in the words of each text."""
    totals = [(math.fsum(rarity[word] for word in reading) or 1.0, reading) for reading in readings]
    asked = frozenset(rarity)
    known = {frozenset[str](): 0.0}  # most texts have none or few of the words

    def share(found: frozenset[str]) -> float:
        if found not in known:
            sums = ((math.fsum(rarity[word] for word in own if word in found), total) for total, own in totals)
            known[found] = max(own / total for own, total in sums)
        return known[found]

    return [share(words & asked) for words in texts]


def _direction(words: frozenset[str]) -> int:
    up, down = not _UP.isdisjoint(words), not _DOWN.isdisjoint(words)
    return int(up) - int(down)


def _chunk_cosine(sentence: Sentence, spans: Sequence[tuple[int, int]], cosines: Vectors) -> float:
    """The cosine of the chunk with the sentence's middle; of several, because chunks overlap, the largest."""
    middle = (sentence.start + sentence.end) // 2
    found = [float(cosine) for (start, end), cosine in zip(spans, cosines, strict=True) if start <= middle < end]
    return max(found, default=0.0)


def _fill(features: Floats, name: str, values: Sequence[float] | Floats) -> None:
    features[:, _COLUMN[name]] = values

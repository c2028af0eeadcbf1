"""Features of every figure in the sentences of the retrieved pages, most of them shares in [0, 1].

They compare the question with the words beside the figure, of its clause and of its sentence, and the year and unit of
the figure with those asked for. ``FEATURES`` names the columns; ``figure_choice`` weighs them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from finray.answering.asked_words import asked_words
from finray.answering.sentences.cues import FIGURE
from finray.answering.sentences.features import FARTHEST, Candidates
from finray.answering.sentences.features import FEATURES as SENTENCE_FEATURES
from finray.core.arrays import Floats
from finray.core.query import Query
from finray.filings.pages.sentences import Sentence
from finray.filings.prose.figures import KINDS, ProseFigure, prose_figures
from finray.question.synonyms import variants, word_set, words_of

_OF_SENTENCE: Final = (
    "words", "best_words", "near", "before", "heading", "pairs", "figures", "years", "other_years", "undated", "moves",
    "hedged", "refers", "dangling", "first", "top", "length", "page_rank", "other_filing", "affinity",
    "read", "read_best", "unread",
)  # fmt: skip
FEATURES: Final[dict[str, str]] = {
    **{f"sentence_{name}": f"of the sentence: {SENTENCE_FEATURES[name]}" for name in _OF_SENTENCE},
    "read": "probability of being the figure asked for, by the sentence reader; 0 if it did not read it",
    "read_best": "the same in log odds, a quarter, below that of the question's best figure, at least -3",
    "unread": "the sentence reader did not read it",
    "beside": "share of the question's words (by rarity) within sixty characters of the figure",
    "best_beside": "beside, scaled by the best figure of the question",
    "ahead": "share of the question's words in the sixty characters before the figure",
    "behind": "share of the question's words in the forty characters after the figure",
    "clause": "share of the question's words in the clause",
    "surplus": "share of the words beside the figure that are not asked for",
    "counted": "the question asks for one of the two words after the figure",
    "uncounted": "a plain number, and the question asks for neither of the two words after it",
    "own_year": "the figure is of a year asked for",
    "other_year": "the figure is of another year",
    "in_question": "the question states this figure",
    "alone": "the only figure of its kind in the sentence",
    "place": "1 / place among the figures of its kind in the sentence, 1 in a list by years",
    "repeated": "logarithm of how many sentences state it",
    "compared": "after compared with, from or than: likely an earlier figure",
    "moved": "after rose by or a decrease of, and no change is asked for",
    "moved_asked": "the same if a change is asked for",
    "bracketed": "in parentheses",
    "small": "a whole number up to twelve without a unit",
    "spelled": "a number in words",
    **{f"stated_{kind.replace(' ', '_')}": f"{kind}, as the question asks for" for kind in KINDS},
    **{f"open_{kind.replace(' ', '_')}": f"{kind}, for a question that leaves the unit open" for kind in KINDS},
    "near_unit": "of a unit that the question may mean by another name: shares for a count",
    "named": "share of the names in the question, besides the company's, in the sentence or beside it",
    "named_clause": "the same in the clause",
    "unnamed": "share of those names that are not in the sentence",
    "amount_money": "money, for a question that asks for an amount",
    "amount_other": "no money, for a question that asks for an amount",
    "rate_percent": "a percentage, for a question about a rate",
    "percent_unasked": "a percentage, and nothing in the question tells of a rate or share",
    "total_other": "the sentence tells of a total that is not asked for",
    "most": "after up to, maximum, at least: a limit",
}
_COLUMN: Final = {name: at for at, name in enumerate(FEATURES)}
_SENTENCE_COLUMN: Final = [list(SENTENCE_FEATURES).index(name) for name in _OF_SENTENCE]
_BESIDE, _BEHIND = 60, 40
_COMPARED = re.compile(r"\b(?:compared (?:to|with)|versus|from|than|against|vs\.?)(?: \w+){0,2} \(?\Z", re.I)
_MOVED = re.compile(
    r"\b(?:(?:increas|decreas|declin|reduc|improv)\w*|rose|grew|fell|dropped|up|down|higher|lower|change|growth)"
    r"(?: \w+){0,2} \(?\Z",
    re.I,
)
_LIMIT = re.compile(
    r"\b(?:up to|maximum|minimum|at least|at most|more than|less than|no more than|exceed\w*)(?: \w+){0,3} \Z", re.I
)
_CLAUSE = re.compile(r"[;:]\s|,\s(?!\d{3}\b)|\s(?:and|while|whereas|but)\s", re.I)
_TOTAL = frozenset(words_of("total aggregate"))
MOVES: Final = frozenset({"moves", "growth", "change", "difference", "rises", "falls", "difference_anywhere"})
"""Intents of questions that ask for a change."""
_RATES = frozenset({"percent", "percent_anywhere", "rate", "share"})
_NAME = re.compile(r"(?<=[\w,;:'’\"”)%-]\s)[A-Z][\w&.'’-]*|\b(?=\w*\d)(?=\w*[A-Za-z])[\w-]+")
_VARIANTS = 8
_SMALL = 12
_OTHER_NAMES: Final = {
    "money": {"count"},
    "per share": {"money"},
    "shares": {"count"},
    "count": {"shares"},
    "days": {"count"},
    "ratio": {"count", "percent"},
    "percent": set[str](),
}
"""Kinds that a question may mean besides the one that it asks for: filings omit "$" and "shares"."""


@dataclass(frozen=True, slots=True)
class FigureCandidates:
    """``figures`` that the question may mean, with the numbers of their ``sentences`` in ``source`` and their
    ``features``, float64 [len(figures), len(FEATURES)]. ``unprinted`` is the share of the question's words that no
    sentence with a figure has."""

    source: Candidates
    figures: tuple[ProseFigure, ...]
    sentences: tuple[int, ...]
    features: Floats
    unprinted: float


def figure_candidates(query: Query, source: Candidates) -> FigureCandidates:
    """The figures of the sentences of ``source`` with their features."""
    figures: list[ProseFigure] = []
    owners: list[int] = []
    for number, sentence in enumerate(source.sentences):
        fitting = [figure for figure in prose_figures(sentence.text) if _may_be_meant(query, figure)]
        figures += fitting
        owners += [number] * len(fitting)
    features = np.zeros((len(figures), len(FEATURES)))
    if not figures:
        return FigureCandidates(source, (), (), features, 1.0)
    features[:, : len(_OF_SENTENCE)] = source.features[np.asarray(owners)][:, _SENTENCE_COLUMN]
    texts = [source.sentences[number].text for number in owners]
    _reading(features, [source.figures.get((n, f.start)) for n, f in zip(owners, figures, strict=True)])
    unprinted = _words(features, query, source.sentences, figures, texts)
    _years(features, query, figures)
    _cues(features, query, figures, texts)
    _kinds(features, query, figures)
    return FigureCandidates(source, tuple(figures), tuple(owners), features, unprinted)


def _reading(features: Floats, odds: Sequence[float | None]) -> None:
    """``odds``: log odds by the sentence reader, None for figures that it did not read."""
    best = max((each for each in odds if each is not None), default=0.0)
    _fill(features, "read", (0.0 if each is None else 1 / (1 + math.exp(-each)) for each in odds))
    _fill(features, "read_best", (FARTHEST if each is None else max((each - best) / 4, FARTHEST) for each in odds))
    _fill(features, "unread", (each is None for each in odds))


def tells_move(text: str, figure: ProseFigure) -> bool:
    """Whether ``figure`` of ``text`` is by how much something changed: no level."""
    return _MOVED.search(text[max(0, figure.first - _BESIDE) : figure.first]) is not None


def _may_be_meant(query: Query, figure: ProseFigure) -> bool:
    """Whether the question may mean a figure of this kind; one that states its unit means no other."""
    asked = query.shape.unit
    if asked is None:
        return "share" not in query.intents or figure.kind == "percent"
    return figure.kind == asked or figure.kind in _OTHER_NAMES[asked]


def _fill(features: Floats, name: str, values: Iterable[float]) -> None:
    features[:, _COLUMN[name]] = list(values)


def _fill_row(row: Floats, values: Mapping[str, float]) -> None:
    for name, value in values.items():
        row[_COLUMN[name]] = value


def _words(
    features: Floats, query: Query, sentences: Sequence[Sentence], figures: Sequence[ProseFigure], texts: Sequence[str]
) -> float:
    """Returns the share of the question's words that no sentence with a figure has."""
    asked = asked_words(query)
    counts = Counter(word for sentence in sentences for word in word_set(sentence.text))
    printed = frozenset().union(*(word_set(text) for text in set(texts)))
    readings = [frozenset(reading) & printed for reading in list(variants(asked))[:_VARIANTS]]
    readings = list(dict.fromkeys(reading for reading in readings if reading))
    rarity = _Rarity(counts, len(sentences), readings)
    wanted = frozenset(asked).union(*readings, words_of(" ".join(query.terms)))
    names = _names(query) & frozenset(asked)
    for row, figure, text in zip(features, figures, texts, strict=True):
        ahead = _near(text[max(0, figure.first - _BESIDE) : figure.first], ahead=True)
        behind = _near(text[figure.end : figure.end + _BEHIND], ahead=False)
        clause, sentence = word_set(_clause(text, figure)), word_set(text)
        after = words_of(text[figure.end : figure.end + _BEHIND])[:2]
        counted = not wanted.isdisjoint(after)
        values = {
            "ahead": rarity.share(ahead),
            "behind": rarity.share(behind),
            "beside": rarity.share(ahead | behind),
            "clause": rarity.share(clause),
            "surplus": rarity.surplus(clause, wanted),
            "counted": counted,
            "uncounted": not counted and figure.kind in ("count", "shares"),
            "total_other": bool(sentence & _TOTAL) and not wanted & _TOTAL,
        }
        if names:
            held = len(names & sentence) / len(names)
            values |= {"named": held, "unnamed": 1 - held, "named_clause": len(names & clause) / len(names)}
        _fill_row(row, values)
    beside = features[:, _COLUMN["beside"]]
    _fill(features, "best_beside", beside / (beside.max() or 1.0))
    own = math.fsum(map(rarity.weight, asked))
    return math.fsum(rarity.weight(word) for word in asked if word not in printed) / own if own else 0.0


def _names(query: Query) -> frozenset[str]:
    """The words that the question capitalizes within a sentence, and those with letters and digits."""
    return frozenset(word for match in _NAME.finditer(query.text) for word in words_of(match[0]))


class _Rarity:
    """How rare words are among the sentences of a question, which asks for one of ``readings``."""

    def __init__(self, counts: Counter[str], sentences: int, readings: Sequence[frozenset[str]]) -> None:
        self._counts, self._sentences = counts, sentences
        self._weights: dict[str, float] = {}
        weighed = ((reading, math.fsum(map(self.weight, reading))) for reading in readings)
        self._readings = [(reading, total) for reading, total in weighed if total]

    def weight(self, word: str) -> float:
        weight = self._weights.get(word)
        if weight is None:
            weight = self._weights[word] = math.log(1 + self._sentences / (1 + self._counts[word]))
        return weight

    def share(self, words: frozenset[str]) -> float:
        """The largest share of a reading's words in ``words``."""
        found = ((reading & words, total) for reading, total in self._readings)
        return max((math.fsum(map(self.weight, own)) / total for own, total in found if own), default=0.0)

    def surplus(self, words: frozenset[str], wanted: frozenset[str]) -> float:
        """The share of ``words`` that are not ``wanted``."""
        own = math.fsum(map(self.weight, words))
        return math.fsum(map(self.weight, words - wanted)) / own if own else 0.0


@lru_cache(maxsize=8192)
def _near(text: str, *, ahead: bool) -> frozenset[str]:
    """The words of ``text``, which stands ``ahead`` of a figure or behind it, without a word cut at its far end."""
    if ahead:
        whole = text.partition(" ")[2] if len(text) >= _BESIDE else text
    else:
        whole = text.rpartition(" ")[0] if len(text) >= _BEHIND else text
    return word_set(whole)


def _clause(text: str, figure: ProseFigure) -> str:
    """The clause of the figure: from one comma, semicolon or conjunction to the next."""
    start, end = 0, len(text)
    for cut in _CLAUSE.finditer(text):
        if cut.end() <= figure.first:
            start = cut.end()
        elif cut.start() >= figure.end:
            end = cut.start()
            break
    return text[start:end]


def _years(features: Floats, query: Query, figures: Sequence[ProseFigure]) -> None:
    years = {period.year for period in query.asked}
    if years:
        _fill(features, "own_year", [figure.year in years for figure in figures])
        _fill(features, "other_year", [figure.year is not None and figure.year not in years for figure in figures])


def _cues(features: Floats, query: Query, figures: Sequence[ProseFigure], texts: Sequence[str]) -> None:
    stated = {number.replace(",", "") for number in FIGURE.findall(query.question)}
    moves = bool(query.intents & MOVES)
    of_kind = Counter((text, figure.kind) for figure, text in zip(figures, texts, strict=True))
    stating = {(figure.value, figure.kind, text) for figure, text in zip(figures, texts, strict=True)}
    repeated = Counter((value, kind) for value, kind, _ in stating)
    seen: Counter[tuple[str, str]] = Counter()
    for row, figure, text in zip(features, figures, texts, strict=True):
        seen[text, figure.kind] += 1
        ahead = text[max(0, figure.first - _BESIDE) : figure.first]
        moved = tells_move(text, figure)
        printed = FIGURE.search(text[figure.start : figure.end])
        values = {
            "in_question": printed is not None and printed[0].replace(",", "") in stated,
            "alone": of_kind[text, figure.kind] == 1,
            "place": 1.0 if figure.first < figure.start else 1 / seen[text, figure.kind],
            "repeated": math.log(repeated[figure.value, figure.kind]),
            "compared": _COMPARED.search(ahead) is not None,
            "moved": moved and not moves,
            "moved_asked": moved and moves,
            "bracketed": text[: figure.start].rstrip().endswith("("),
            "small": figure.kind == "count" and figure.value <= _SMALL and figure.value == round(figure.value),
            "spelled": figure.spelled,
            "most": _LIMIT.search(ahead) is not None,
        }
        _fill_row(row, values)


def _kinds(features: Floats, query: Query, figures: Sequence[ProseFigure]) -> None:
    asked, intents = query.shape.unit, query.intents
    rate_asked = asked in ("percent", "ratio") or bool(intents & _RATES)
    for row, figure in zip(features, figures, strict=True):
        kind = figure.kind.replace(" ", "_")
        if asked is None:
            row[_COLUMN[f"open_{kind}"]] = 1.0
        elif figure.kind == asked:
            row[_COLUMN[f"stated_{kind}"]] = 1.0
        else:
            row[_COLUMN["near_unit"]] = 1.0
        if "amount" in intents and asked is None:
            row[_COLUMN["amount_money" if figure.kind == "money" else "amount_other"]] = 1.0
        percent = figure.kind == "percent"
        _fill_row(row, {"percent_unasked": percent and not rate_asked, "rate_percent": percent and "rate" in intents})

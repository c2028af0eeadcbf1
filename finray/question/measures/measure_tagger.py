"""Finds the words of a question that name what is measured, by a small network over MiniLM's token states.

Questions come with personas, instructions and definitions that no list of patterns knows. The network labels each token
as outside, or as the first or a further one of the first or second quantity (BIO tags); the best sequence wins
(Viterbi). A second, linear one names the operation. `finray train reader` fits both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from finray.models.bert.weights import Floats
from finray.models.token_states import TokenStates

OUTSIDE, FIRST, FIRST_ON, SECOND, SECOND_ON = range(5)
_FOLLOWS = {FIRST_ON: (FIRST, FIRST_ON), SECOND_ON: (SECOND, SECOND_ON)}
QUOTED = re.compile(r'["“]([^"”]{2,120})["”]')
_WORD = re.compile(r"\S+")
_LINKS = frozenset({
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "its", "of", "on", "or", "over", "per", "than",
    "that", "the", "their", "to", "under", "was", "were", "with", "within",
})  # fmt: skip
_MARKS, _FLAGS = 5, 8
"""Kinds of marked spans, and these with the flags of a token's letters."""
_POSITION = 40
"""Tokens per unit of a token's position."""
_IMPOSSIBLE = np.float32(-1e9)

Span = tuple[int, int]
OPERATIONS = (
    "value", "difference", "growth", "share", "ratio", "sum", "average", "count", "max", "min", "which", "yesno",
    "words", "date",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TaggerWeights:
    """``hidden`` [features, units] with ``hidden_bias``, ReLU, ``out`` [units, 5] with ``out_bias``; the operations'
    ``operation`` [features of a question, operations] with ``operation_bias``."""

    hidden: Floats
    hidden_bias: Floats
    out: Floats
    out_bias: Floats
    operation: Floats
    operation_bias: Floats


@dataclass(frozen=True, slots=True)
class Measured:
    """``quantities`` are the places of the words that name each, at most two, in pieces: "net sales", "Europe segment".
    ``operation`` is one of OPERATIONS."""

    quantities: tuple[tuple[Span, ...], ...]
    operation: str


class MeasureTagger:
    """Tags what a question measures. Thread-safe."""

    def __init__(self, weights: TaggerWeights | None = None) -> None:
        """``weights`` default to those that come with finray."""
        self._weights = shipped_tagger() if weights is None else weights

    def measured(self, question: str, states: TokenStates, marked: Sequence[Iterable[Span]]) -> Measured | None:
        """What ``question`` with these token ``states`` measures; None if it has no words. ``marked`` is as for
        :func:`features`."""
        if not states.spans:
            return None
        x = features(question, states, marked)
        quantities = pieces(question, states.spans, best_tags(tag_logits(self._weights, x)))
        operation = question_features(states, x) @ self._weights.operation + self._weights.operation_bias
        return Measured(quantities, OPERATIONS[int(operation.argmax())])


def tag_logits(weights: TaggerWeights, x: Floats) -> Floats:
    """Logits of the tags, float32 [tokens, 5], for ``x`` of :func:`features`."""
    result: Floats = np.maximum(x @ weights.hidden + weights.hidden_bias, 0) @ weights.out + weights.out_bias
    return result


def question_features(states: TokenStates, x: Floats) -> Floats:
    """float32 [2 * 384 + 5] of the whole question: mean and maximum of its states, and how many tokens are marked."""
    start = 3 * states.contextual.shape[1]
    marks = x[:, start : start + _MARKS].sum(0) / _MARKS
    result: Floats = np.concatenate([states.mean, states.contextual.max(0), marks])
    return result


def features(question: str, states: TokenStates, marked: Sequence[Iterable[Span]]) -> Floats:
    """float32 [tokens, features]. ``marked`` are the spans of companies, periods, metrics and other known words."""
    spans = np.asarray(states.spans, dtype=np.int64).reshape(-1, 2)
    flags = np.zeros((len(spans), _FLAGS), dtype=np.float32)
    for kind, found in enumerate([*marked, [match.span(1) for match in QUOTED.finditer(question)]]):
        for start, end in found:
            flags[(spans[:, 0] < end) & (spans[:, 1] > start), kind] = 1
    for row, (start, end) in enumerate(spans):
        word = question[start:end]
        flags[row, _MARKS:] = word[:1].isupper(), not word.isalnum(), start > 0 and question[start - 1] != " "
    nothing = np.zeros((1, _FLAGS), dtype=np.float32)
    place = np.arange(len(spans), dtype=np.float32)[:, None] / _POSITION
    mean = np.broadcast_to(states.mean, (len(spans), len(states.mean)))
    before, after = np.concatenate([nothing, flags[:-1]]), np.concatenate([flags[1:], nothing])
    result: Floats = np.concatenate(
        [states.contextual, states.static, mean, flags, before, after, place], axis=1, dtype=np.float32
    )
    return result


def best_tags(logits: Floats) -> list[int]:
    """The likeliest sequence of tags in which further tokens follow one of the same quantity (Viterbi)."""
    allowed = np.zeros((5, 5), dtype=np.float32)
    for tag, before in _FOLLOWS.items():
        allowed[[each for each in range(5) if each not in before], tag] = _IMPOSSIBLE
    log = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    score = log[0].copy()
    score[list(_FOLLOWS)] = _IMPOSSIBLE
    back = []
    for row in log[1:]:
        reached = score[:, None] + allowed
        back.append(reached.argmax(0))
        score = reached.max(0) + row
    tags = [int(score.argmax())]
    for step in reversed(back):
        tags.append(int(step[tags[-1]]))
    return tags[::-1]


def pieces(question: str, spans: Sequence[Span], tags: Sequence[int]) -> tuple[tuple[Span, ...], ...]:
    """The places of the tagged words, extended to whole words, by quantity."""
    found: dict[int, list[list[int]]] = {FIRST: [], SECOND: []}
    open_piece: list[int] | None = None
    for (start, end), tag in zip(spans, tags, strict=True):
        if tag in found:
            open_piece = [start, end]
            found[tag].append(open_piece)
        elif tag == OUTSIDE or open_piece is None:
            open_piece = None
        else:
            open_piece[1] = end
    whole = ([whole_words(question, start, end) for start, end in own] for own in found.values() if own)
    return tuple(tuple(_unpunctuated(question, *each) for each in own) for own in whole)


def _unpunctuated(question: str, start: int, end: int) -> Span:
    """The span without punctuation at its end."""
    bare = question[start:end].rstrip(" ,;:.?!")
    return (start, start + len(bare)) if bare else (start, end)


def words_at(question: str, quantities: Sequence[Sequence[Span]]) -> tuple[tuple[str, ...], ...]:
    """The words of ``quantities``, in pieces."""
    return tuple(tuple(question[start:end] for start, end in own) for own in quantities)


def without_links(question: str, span: Span) -> Span | None:
    """The span without words at its ends that only link it to others ("turnover from", "of cash"); None if nothing is
    left."""
    words = [(m.start() + span[0], m.end() + span[0]) for m in _WORD.finditer(question[slice(*span)])]
    telling = [at for at, (start, end) in enumerate(words) if question[start:end].lower() not in _LINKS]
    return (words[telling[0]][0], words[telling[-1]][1]) if telling else None


def whole_words(question: str, start: int, end: int) -> Span:
    """The span of the whole words that ``question[start:end]`` is a part of."""
    while start > 0 and question[start - 1].isalnum():
        start -= 1
    while end < len(question) and question[end].isalnum():
        end += 1
    return start, end


@cache
def shipped_tagger() -> TaggerWeights:
    """The weights that come with finray."""
    with resources.files("finray.question.measures").joinpath("measure_tagger.npz").open("rb") as file:
        saved = np.load(file, allow_pickle=False)
        return TaggerWeights(*(saved[name].astype(np.float32) for name in TaggerWeights.__dataclass_fields__))

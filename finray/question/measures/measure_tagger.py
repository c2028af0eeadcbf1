"""Finds the words of a question that name what is measured.

Questions come with personas, instructions and definitions that no list of patterns knows. A small model
(``finray.models.question_model``) labels each token as outside, or as the first or a further one of the first or second
quantity (BIO tags); the best sequence wins (Viterbi). Another head names the operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from finray.models.bert.tokens import placed_tokens
from finray.models.bert.weights import Floats
from finray.models.question_model import MARKS, MAX_TOKENS, OPERATIONS, TAGS, QuestionModel

OUTSIDE, FIRST, FIRST_ON, SECOND, SECOND_ON = range(TAGS)
_FOLLOWS = {FIRST_ON: (FIRST, FIRST_ON), SECOND_ON: (SECOND, SECOND_ON)}
QUOTED = re.compile(r'["“]([^"”]{2,120})["”]')
_WORD = re.compile(r"\S+")
_LINKS = frozenset({
    "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "its", "of", "on", "or", "over", "per", "than",
    "that", "the", "their", "to", "under", "was", "were", "with", "within",
})  # fmt: skip
_IMPOSSIBLE = np.float32(-1e9)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Measured:
    """``quantities`` are the places of the words that name each, at most two, in pieces: "net sales", "Europe segment".
    ``operation`` is one of OPERATIONS."""

    quantities: tuple[tuple[Span, ...], ...]
    operation: str


class MeasureTagger:
    """Tags what a question measures. Thread-safe."""

    def __init__(self, model: QuestionModel) -> None:
        self._model = model

    def measured(self, question: str, marked: Sequence[Iterable[Span]]) -> Measured | None:
        """What ``question`` measures; None if it has no words. ``marked`` is as for :func:`token_marks`."""
        ids, spans = placed_tokens(question)
        ids, spans = ids[:MAX_TOKENS], spans[:MAX_TOKENS]
        if not ids:
            return None
        read = self._model.question(ids, token_marks(question, spans, marked))
        return Measured(pieces(question, spans, best_tags(read.tags)), OPERATIONS[int(read.operations.argmax())])


def token_marks(question: str, spans: Sequence[Span], marked: Sequence[Iterable[Span]]) -> Floats:
    """float32 [tokens, MARKS]: 1 if a token is of a known word. ``marked`` are the places of companies, periods,
    metrics and other known words; quoted words are found here."""
    places = np.asarray(spans, dtype=np.int64).reshape(-1, 2)
    marks = np.zeros((len(places), MARKS), dtype=np.float32)
    for kind, found in enumerate([*marked, [match.span(1) for match in QUOTED.finditer(question)]]):
        for start, end in found:
            marks[(places[:, 0] < end) & (places[:, 1] > start), kind] = 1
    return marks


def best_tags(logits: Floats) -> list[int]:
    """The likeliest sequence of tags in which further tokens follow one of the same quantity (Viterbi)."""
    allowed = np.zeros((TAGS, TAGS), dtype=np.float32)
    for tag, before in _FOLLOWS.items():
        allowed[[each for each in range(TAGS) if each not in before], tag] = _IMPOSSIBLE
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

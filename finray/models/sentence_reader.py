"""A small trained model that reads a question beside each of some sentences (``sentence_reader.npz``): whether the
sentence answers, and which of its figures.

``finray train row-reader`` fits it together with the row reader; the shipped weights are of another course of training
than those of the row reader, because they answer better in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from finray.core.arrays import Floats
from finray.models.bert.tokens import token_spans
from finray.models.bert.weights import SIZE, State, shipped_weights
from finray.models.pair_reader import PairReader, linear_shapes

SENTENCE_TOKENS: Final = 72
SENTENCE_HEADS: Final = {"answers": 1, "figure": 1}
"""Outputs of the heads: whether a sentence answers, and whether a figure of it does."""
WEIGHTS: Final = "sentence_reader.npz"
Spans = tuple[tuple[int, int], ...]
"""Stretches of characters of a sentence: its figures."""


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """Log odds, float64: ``answers`` [sentences] that a sentence answers, and for each sentence ``figures`` [figures]
    that a figure of it is the one asked for; -inf for one past the tokens that are read."""

    answers: Floats
    figures: tuple[Floats, ...]


class SentenceReader(PairReader):
    """Raises ModelUnavailableError if MiniLM's package is missing or weights do not fit."""

    def __init__(self, weights: State | None = None) -> None:
        """``weights`` are by default those that come with finray."""
        super().__init__(shipped_weights(WEIGHTS) if weights is None else weights, linear_shapes(SENTENCE_HEADS))

    def sentences(self, question: str, sentences: Sequence[str], figures: Sequence[Spans] = ()) -> SentenceScores:
        """``figures``: for each sentence where its figures are."""
        states, tokens = self.token_states(question, sentences, SENTENCE_TOKENS)
        marked = figures or [()] * len(sentences)
        answers = self.head("answers", states)[:, 0]
        of_figures = tuple(self._figures(*each) for each in zip(sentences, marked, states, tokens, strict=True))
        return SentenceScores(answers, of_figures)

    def _figures(self, sentence: str, marked: Spans, state: Floats, tokens: Floats) -> Floats:
        logits = np.full(len(marked), -np.inf)
        spans = token_spans(sentence, SENTENCE_TOKENS, marked) if marked else []
        for at, (start, end) in enumerate(spans):
            if end > start:  # read: the mean of the figure's tokens, and the sentence's first state
                read = np.concatenate([tokens[start:end].mean(0), state[:SIZE]])
                logits[at] = self.head("figure", read)[0]
        return logits


@cache
def sentence_reader() -> SentenceReader:
    """The reader that comes with finray, loaded once per process."""
    return SentenceReader()

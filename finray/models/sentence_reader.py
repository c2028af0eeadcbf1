"""A small trained model that reads a question beside a sentence (``sentence_reader.npz``): does the sentence answer it,
and which of its figures does?

``finray train row-reader`` fits it together with the row reader. The shipped weights of the two come from different
runs, because these answer better in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from finray.core.arrays import Floats
from finray.models.bert.tokens import token_spans
from finray.models.bert.weights import SIZE, State, linear_shapes, shipped_weights
from finray.models.pair_reader import STATE, PairReader

SENTENCE_TOKENS: Final = 72
SENTENCE_HEADS: Final = {"answers": 1, "figure": 1}
"""Outputs of the heads: the log odds that a sentence answers, and that a figure of it does."""
WEIGHTS: Final = "sentence_reader.npz"
Spans = tuple[tuple[int, int], ...]
"""The spans of characters of the figures of a sentence."""


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """Log odds, float64. ``answers`` [sentences]: a sentence answers. ``figures``, [figures] for each: a figure of it
    is the one asked for; -inf for a figure past the tokens that are read."""

    answers: Floats
    figures: tuple[Floats, ...]


class SentenceReader(PairReader):
    """Reads sentences. Raises ModelUnavailableError if MiniLM's package is missing or weights do not fit."""

    def __init__(self, weights: State | None = None) -> None:
        """``weights`` are by default those that come with finray."""
        super().__init__(shipped_weights(WEIGHTS) if weights is None else weights, linear_shapes(SENTENCE_HEADS, STATE))

    def sentences(self, question: str, sentences: Sequence[str], figures: Sequence[Spans] = ()) -> SentenceScores:
        """Scores of ``sentences``. ``figures`` are the spans of the figures of each, none by default."""
        states, tokens = self.token_states(question, sentences, SENTENCE_TOKENS)
        spans = figures or [()] * len(sentences)
        answers = self.head("answers", states)[:, 0]
        of_figures = tuple(self._figures(*each) for each in zip(sentences, spans, states, tokens, strict=True))
        return SentenceScores(answers, of_figures)

    def _figures(self, sentence: str, spans: Spans, state: Floats, tokens: Floats) -> Floats:
        logits = np.full(len(spans), -np.inf)
        if not spans:
            return logits
        for number, (start, end) in enumerate(token_spans(sentence, SENTENCE_TOKENS, spans)):
            if end > start:  # else it is past the tokens that are read
                # The head reads the mean of the figure's tokens, and the first state of the sentence.
                figure = np.concatenate([tokens[start:end].mean(0), state[:SIZE]])
                logits[number] = self.head("figure", figure)[0]
        return logits


@cache
def sentence_reader() -> SentenceReader:
    """The reader that comes with finray, loaded once per process."""
    return SentenceReader()

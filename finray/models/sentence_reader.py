"""A small trained model that reads a question beside each of some sentences (``sentence_reader.npz``): whether the
sentence answers, and which of its figures.

``finray train row-reader`` fits it together with the row reader; the shipped weights are of another course of training
than those of the row reader, because they answer better in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from finray.models.pair_reader import Logits, PairReader, State, linear, shipped_weights, token_spans

SENTENCE_TOKENS: Final = 72
WEIGHTS: Final = "sentence_reader.npz"
Spans = tuple[tuple[int, int], ...]
"""Stretches of characters of a sentence: its figures."""


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """Log odds, float64: ``answers`` [sentences] that a sentence answers, and for each sentence ``figures`` [figures]
    that a figure of it is the one asked for; -inf for one past the tokens that are read."""

    answers: Logits
    figures: tuple[Logits, ...]


class SentenceReader(PairReader):
    """Raises ModelUnavailableError if MiniLM's package is missing or weights do not fit."""

    def __init__(self, weights: State | None = None) -> None:
        """``weights`` are by default those that come with finray."""
        super().__init__(shipped_weights(WEIGHTS) if weights is None else weights, sentence_heads())

    def sentences(self, question: str, sentences: Sequence[str], figures: Sequence[Spans] = ()) -> SentenceScores:
        """``figures``: for each sentence where its figures are."""
        states, tokens = self.token_states(question, sentences, SENTENCE_TOKENS)
        marked = figures or [()] * len(sentences)
        with self._torch.inference_mode():
            answers: Logits = self.heads["answers"](states)[:, 0].double().numpy()
            of_figures = tuple(self._figures(*each) for each in zip(sentences, marked, states, tokens, strict=True))
        return SentenceScores(answers, of_figures)

    def _figures(self, sentence: str, marked: Spans, state: Any, tokens: Any) -> Logits:
        logits = np.full(len(marked), -np.inf)
        spans = token_spans(self._tokenizer, sentence, SENTENCE_TOKENS, marked) if marked else []
        there = [at for at, (start, end) in enumerate(spans) if end > start]
        if there:
            read = self._torch.stack([figure_state(tokens, spans[at], state) for at in there])
            logits[there] = self.heads["figure"](read)[:, 0].double().numpy()
        return logits


def figure_state(tokens: Any, span: tuple[int, int], state: Any) -> Any:
    """[STATE]: the mean of a figure's ``tokens``, and the first half of the sentence's ``state``."""
    import torch

    return torch.cat([tokens[span[0] : span[1]].mean(0), state[: state.shape[-1] // 2]], -1)


def sentence_heads() -> dict[str, Any]:
    """The heads before training: whether a sentence answers, and whether a figure of it does."""
    return {"answers": linear(1), "figure": linear(1)}


@cache
def sentence_reader() -> SentenceReader:
    """The reader that comes with finray, loaded once per process."""
    return SentenceReader()

"""MiniLM's states of the tokens of a text, for small models that label words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from finray.models.bert.forward import minilm_pass
from finray.models.bert.packing import packed
from finray.models.bert.tokens import CLS, SEP, placed_tokens
from finray.models.bert.weights import SIZE, Floats, minilm_words

MAX_TOKENS: Final = 256


@dataclass(frozen=True, slots=True)
class TokenStates:
    """``spans[i]`` is the span of token i in the text. ``contextual`` and ``static`` are float32 [tokens, SIZE]: the
    last hidden states, and the embeddings without context. ``mean`` [SIZE] is the mean state."""

    spans: Sequence[tuple[int, int]]
    contextual: Floats
    static: Floats
    mean: Floats


class MiniLmTokens:
    """all-MiniLM-L6-v2 on the CPU. Thread-safe. Raises ModelUnavailableError if its package is missing."""

    def __init__(self) -> None:
        self._forward = minilm_pass()

    def states(self, text: str) -> TokenStates:
        """The states of the first 254 tokens of ``text``; MiniLM reads CLS and SEP too. A text may have none."""
        ids, spans = placed_tokens(text)
        ids, spans = ids[: MAX_TOKENS - 2], spans[: MAX_TOKENS - 2]
        (hidden,) = self._forward.states(packed([[CLS, *ids, SEP]], [MAX_TOKENS]))
        return TokenStates(spans, hidden[1:-1], minilm_words()[ids], hidden.mean(0))


class MiniLmSentences:
    """An encoder of sentences by the mean of their token states. Loads the model on first use."""

    dimension = SIZE

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        """float32 [len(texts), SIZE], rows of unit length."""
        means = np.stack([minilm_tokens().states(text).mean for text in texts])
        vectors: Floats = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    def encode_query(self, text: str) -> Floats:
        """float32 [SIZE], unit length."""
        vector: Floats = self.encode_passages([text])[0]
        return vector


@cache
def minilm_tokens() -> MiniLmTokens:
    """The model, loaded once per process."""
    return MiniLmTokens()

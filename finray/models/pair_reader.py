"""A small transformer that reads a question beside another text: the first four layers of all-MiniLM-L6-v2, fine-tuned
as a cross-encoder, below linear heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from finray.core.arrays import Floats
from finray.models.bert.forward import ForwardPass, forward_pass
from finray.models.bert.packing import Packed, packed
from finray.models.bert.tokens import CLS, SEP, token_ids
from finray.models.bert.weights import SIZE, Shapes, State, fitting, layer_shapes

LAYERS: Final = 4
STATE: Final = 2 * SIZE
"""Components of the state of a pair: the state of its first token, and the mean of all."""
QUESTION_TOKENS: Final = 56
"""Tokens of a question that are read, half of them from its end."""
_PASS_TOKENS = 1_500
"""Tokens of one forward pass, at most, unless one pair has more."""
Pair = tuple[list[int], list[int]]
"""The tokens of a question and of the text beside it; no second ones for the question alone."""


class PairReader:
    """Reads pairs on the CPU; thread-safe."""

    def __init__(self, state: State, heads: Shapes) -> None:
        """``heads`` are the shapes of the weights of the heads. Raises ModelUnavailableError if MiniLM's package is
        missing or ``state`` does not fit."""
        self._forward: ForwardPass = forward_pass(fitting(state, layer_shapes(LAYERS), "bert."), LAYERS)
        self._heads = {name: value.astype(np.float64) for name, value in fitting(state, heads).items()}

    def states(self, question: str, texts: Sequence[str], tokens: int) -> Floats:
        """The state of ``question`` beside the first ``tokens`` tokens of each text, or alone if the text is empty:
        [texts, STATE]."""
        return self.token_states(question, texts, tokens)[0]

    def token_states(self, question: str, texts: Sequence[str], tokens: int) -> tuple[Floats, list[Floats]]:
        """The :meth:`states`, and those of each text's tokens, [tokens, SIZE]."""
        asked = token_ids(question, QUESTION_TOKENS, both_ends=True)
        pairs = [(asked, token_ids(text, tokens) if text else []) for text in texts]
        states: list[Floats] = []
        of_texts: list[Floats] = []
        size = max(1, _PASS_TOKENS // (3 + max(len(first) + len(second) for first, second in pairs)))
        for start in range(0, len(pairs), size):
            batch = pairs[start : start + size]
            for hidden, second in zip(self._forward.states(packed_pairs(batch)), text_places(batch), strict=True):
                states.append(np.concatenate([hidden[0], hidden.mean(0)]).astype(np.float64))
                of_texts.append(hidden[second].astype(np.float64))
        return np.stack(states), of_texts

    def head(self, name: str, states: Floats) -> Floats:
        """The outputs of the linear head ``name`` over ``states``."""
        return linear(self._heads, name, states)


def packed_pairs(pairs: Sequence[Pair]) -> Packed:
    """The pairs as MiniLM reads them: with CLS and SEP, and with type 1 for the second parts."""
    sequences = [[CLS, *first, SEP, *([*second, SEP] if second else [])] for first, second in pairs]
    return packed(sequences, [len(first) + 2 for first, _ in pairs])


def text_places(pairs: Sequence[Pair]) -> list[slice]:
    """The span of the second part of each pair in its sequence."""
    return [slice(len(first) + 2, len(first) + 2 + len(second)) for first, second in pairs]


def linear(weights: State, name: str, states: Floats) -> Floats:
    """A linear layer of ``weights`` over ``states``."""
    product: Floats = states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return product

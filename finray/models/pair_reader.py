"""A small transformer that reads a question beside another text: the first four layers of all-MiniLM-L6-v2, fine-tuned
as a cross-encoder, below linear heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from finray.core.arrays import Floats
from finray.models.bert.forward import fine_tuned_pass, on_processors, processor_threads
from finray.models.bert.packing import Packed, packed
from finray.models.bert.tokens import CLS, SEP, token_ids
from finray.models.bert.weights import SIZE, Shapes, State, fitting

LAYERS: Final = 4
STATE: Final = 2 * SIZE
"""Components of the state of a pair: the state of its first token, and the mean of all."""
QUESTION_TOKENS: Final = 56
"""Tokens of a question that are read, half of them from its end."""
_PASS_TOKENS = 300
"""Tokens of one forward pass, at most, unless one pair has more: few enough for the processor's caches."""
Pair = tuple[list[int], list[int]]
"""The tokens of a question and of the text beside it; no second ones for the question alone."""


class PairReader:
    """Reads pairs on the CPU; thread-safe."""

    def __init__(self, state: State, heads: Shapes) -> None:
        """``heads`` are the shapes of the weights of the heads. Raises ModelUnavailableError if MiniLM's package is
        missing or ``state`` does not fit."""
        self._forward = fine_tuned_pass(state, LAYERS)
        self._threads = processor_threads()
        self._heads = {name: value.astype(np.float64) for name, value in fitting(state, heads).items()}

    def states(self, question: str, texts: Sequence[str], tokens: int) -> Floats:
        """The state of ``question`` beside the first ``tokens`` tokens of each text, or alone if the text is empty:
        [texts, STATE]."""
        return self.token_states(question, texts, tokens)[0]

    def token_states(self, question: str, texts: Sequence[str], tokens: int) -> tuple[Floats, list[Floats]]:
        """The :meth:`states`, and those of each text's tokens, [tokens, SIZE]."""
        asked = token_ids(question, QUESTION_TOKENS, both_ends=True)
        pairs = [(asked, token_ids(text, tokens) if text else []) for text in texts]
        states = np.empty((len(pairs), STATE))
        of_texts: list[Floats] = [np.empty((0, SIZE))] * len(pairs)

        def read(numbers: list[int]) -> None:
            batch = [pairs[number] for number in numbers]
            of_pairs = zip(numbers, self._forward.states(packed_pairs(batch)), text_places(batch), strict=True)
            for number, hidden, second in of_pairs:
                states[number] = np.concatenate([hidden[0], hidden.mean(0)])
                of_texts[number] = hidden[second].astype(np.float64)

        on_processors(read, list(_passes(pairs)), self._threads)
        return states, of_texts

    def head(self, name: str, states: Floats) -> Floats:
        """The outputs of the linear head ``name`` over ``states``."""
        return linear(self._heads, name, states)


def _passes(pairs: Sequence[Pair]) -> Iterator[list[int]]:
    """The numbers of the pairs of each forward pass, pairs of like length together: attention computes padding too."""
    lengths = [3 + len(first) + len(second) for first, second in pairs]
    batch: list[int] = []
    for number in sorted(range(len(pairs)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[number] > _PASS_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    yield batch


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

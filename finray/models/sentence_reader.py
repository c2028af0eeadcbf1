"""A small trained model that reads a question beside each of some sentences (``sentence_reader.npz``).

``finray train row-reader`` fits it together with the row reader; the shipped weights are of an earlier step of training
than those of the row reader, because they answer better in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from finray.models.pair_reader import Logits, PairReader, State, linear, shipped_weights

SENTENCE_TOKENS: Final = 72
WEIGHTS: Final = "sentence_reader.npz"


class SentenceReader(PairReader):
    """Raises ModelUnavailableError if MiniLM's package is missing or weights do not fit."""

    def __init__(self, weights: State | None = None) -> None:
        """``weights`` are by default those that come with finray."""
        super().__init__(shipped_weights(WEIGHTS) if weights is None else weights, sentence_heads())
        self._read: tuple[tuple[str, ...], Logits] | None = None

    def sentences(self, question: str, sentences: Sequence[str]) -> Logits:
        """Logits [sentences] of answering ``question``. Those of the last call are kept: answers in words and figures
        of sentences read the same ones."""
        read, last = (question, *sentences), self._read
        if last is not None and last[0] == read:
            return last[1]
        states = self.states(question, sentences, SENTENCE_TOKENS)
        with self._torch.inference_mode():
            logits: Logits = self.heads["answers"](states)[:, 0].double().numpy()
        self._read = (read, logits)
        return logits


def sentence_heads() -> dict[str, Any]:
    """The head before training: whether a sentence answers."""
    return {"answers": linear(1)}


@cache
def sentence_reader() -> SentenceReader:
    """The reader that comes with finray, loaded once per process."""
    return SentenceReader()

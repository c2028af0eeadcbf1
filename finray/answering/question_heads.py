"""Linear heads over the row reader's state of a question alone: they tell what it asks for before any row is read.

They cost one short forward pass, and are fitted in seconds on top of the frozen reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from finray.core.arrays import Floats, log_softmax
from finray.core.errors import ModelUnavailableError


@dataclass(frozen=True, slots=True)
class QuestionHeads:
    """``weights`` [state, outputs] and ``biases`` [outputs] of each head, float32."""

    weights: Mapping[str, npt.NDArray[np.float32]]
    biases: Mapping[str, npt.NDArray[np.float32]]

    def log_probabilities(self, state: Floats) -> dict[str, Floats]:
        """The log probabilities of each head, float64 [outputs]. ``state`` is that of the question, float64 [state]."""
        return {name: log_softmax(state @ self.weights[name] + self.biases[name]) for name in self.weights}


def read_question_heads(file: IO[bytes], source: str, outputs: Mapping[str, int]) -> QuestionHeads:
    """The heads named in ``outputs``, with their numbers of outputs, from a file of :func:`write_question_heads`.
    Raises ModelUnavailableError if it is of another version."""
    try:
        with np.load(file, allow_pickle=False) as saved:
            weights = {name: saved[f"{name}.weight"].astype(np.float32) for name in outputs}
            biases = {name: saved[f"{name}.bias"].astype(np.float32) for name in outputs}
    except (KeyError, ValueError, OSError) as error:
        raise ModelUnavailableError(f"{source} lacks heads for questions: {error}; fit it again") from error
    for name, size in outputs.items():
        if weights[name].shape[1:] != (size,) or biases[name].shape != (size,):
            raise ModelUnavailableError(
                f"{source} has {weights[name].shape} for {name}, not {size} outputs; fit it again"
            )
    return QuestionHeads(weights, biases)


def write_question_heads(heads: QuestionHeads, file: IO[bytes]) -> None:
    """Writes weights in half precision, biases in full."""
    parts: dict[str, npt.NDArray[Any]] = {
        f"{name}.weight": heads.weights[name].astype(np.float16) for name in heads.weights
    }
    parts |= {f"{name}.bias": heads.biases[name] for name in heads.weights}
    np.savez_compressed(file, allow_pickle=False, **parts)

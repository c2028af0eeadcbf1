"""A small trained model that reads a question, or a phrase of one (``question_model.npz``).

The first four layers of all-MiniLM-L6-v2, fine-tuned, below linear heads: which words of a question name its
quantities, what is computed from them, and which metric a phrase means. ``finray train question-model`` fits it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import numpy as np

from finray.models.bert.forward import ForwardPass
from finray.models.bert.packing import packed
from finray.models.bert.tokens import CLS, SEP
from finray.models.bert.weights import SIZE, Floats, State, fitting, layer_shapes, linear_shapes, shipped_weights

OPERATIONS: Final = (
    "value", "difference", "growth", "share", "ratio", "sum", "average", "count", "max", "min", "which", "yesno",
    "words", "date",
)  # fmt: skip
TAGS: Final = 5
"""Outside, the first token of the first quantity and a further one, and the same of the second quantity."""
MARKS: Final = 5
"""Kinds of words that are known before: companies, periods, metrics, other known words, quoted ones."""
LAYERS: Final = 4
MAX_TOKENS: Final = 254
"""Tokens that are read, at most; CLS and SEP come on top."""
WEIGHTS: Final = "question_model.npz"
LABELS: Final = "question_model.json"
_POOLED = 2 * SIZE


@dataclass(frozen=True, slots=True)
class MetricLabels:
    """``metrics`` are the classes of phrases, in the order of the head; ``threshold`` is the least probability of a
    metric that counts."""

    metrics: tuple[str, ...]
    threshold: float


@dataclass(frozen=True, slots=True)
class QuestionLogits:
    """``tags`` float32 [tokens, TAGS]; ``operations`` float32 [len(OPERATIONS)]."""

    tags: Floats
    operations: Floats


class QuestionModel:
    """Reads on the CPU; thread-safe."""

    def __init__(self, state: State, labels: MetricLabels) -> None:
        """Raises ModelUnavailableError if MiniLM's package is missing or ``state`` does not fit."""
        layers = fitting(state, layer_shapes(LAYERS), "bert.")
        self._forward = ForwardPass(layers, LAYERS)
        self._heads = fitting(state, head_shapes(len(labels.metrics)))
        self.labels = labels

    def question(self, ids: Sequence[int], marks: Floats) -> QuestionLogits:
        """What a question measures, by its first tokens ``ids``, at most MAX_TOKENS; ``marks`` [tokens, MARKS] is 1 for
        tokens of known words, else 0."""
        padded = np.pad(marks, ((1, 1), (0, 0)))
        states = self._states(ids, padded @ self._heads["marks.weight"].T)
        return QuestionLogits(self._head("tags", states[1:-1]), self._head("operations", pooled(states)))

    def phrase(self, ids: Sequence[int]) -> Floats:
        """Log probabilities of the metrics that a phrase of tokens ``ids`` may mean, float32 [metrics]."""
        logits = self._head("metrics", pooled(self._states(ids, None)))
        logs: Floats = logits - np.logaddexp.reduce(logits)
        return logs

    def _states(self, ids: Sequence[int], added: Floats | None) -> Floats:
        sequence = [CLS, *ids, SEP]
        (states,) = self._forward.states(packed([sequence], [len(sequence)]), added)
        return states

    def _head(self, name: str, states: Floats) -> Floats:
        logits: Floats = states @ self._heads[f"{name}.weight"].T + self._heads[f"{name}.bias"]
        return logits


def pooled(states: Floats) -> Floats:
    """The mean and the maximum of the ``states`` of all tokens, float32 [2 * SIZE]."""
    result: Floats = np.concatenate([states.mean(0), states.max(0)])
    return result


def head_shapes(metrics: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the weights above the layers, and of the marks below them."""
    heads = linear_shapes({"tags": TAGS}, SIZE) | linear_shapes(
        {"operations": len(OPERATIONS), "metrics": metrics}, _POOLED
    )
    return {**heads, "marks.weight": (SIZE, MARKS)}


@cache
def question_model() -> QuestionModel:
    """The model that comes with finray, loaded once per process."""
    saved = json.loads(resources.files("finray.models").joinpath(LABELS).read_text("utf-8"))
    return QuestionModel(shipped_weights(WEIGHTS), MetricLabels(tuple(saved["metrics"]), float(saved["threshold"])))

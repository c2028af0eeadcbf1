"""Recognizes the metric that a phrase means in words that the vocabulary lacks: "bill for income taxes" is income tax.

A small network over MiniLM's states of the phrase alone names the metric, or none: most figures of a filing have no
usual name. ``finray train metric-recognizer`` fits it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from finray.models.bert.weights import Floats
from finray.models.token_states import MiniLmTokens
from finray.question.measures.formulas import usual_names

NONE = "none"
"""The class of phrases for any other figure."""


@dataclass(frozen=True, slots=True)
class RecognizerWeights:
    """``hidden`` [3 * 384, units] with ``hidden_bias``, ReLU, ``out`` [units, metrics] with ``out_bias``. ``metrics``
    are the classes: keys of ``usual_names``, other rows that sound like them, and NONE. ``threshold`` is the least
    probability of a metric that counts."""

    hidden: Floats
    hidden_bias: Floats
    out: Floats
    out_bias: Floats
    metrics: tuple[str, ...]
    threshold: float


@dataclass(frozen=True, slots=True)
class Meant:
    """A recognized metric, a key of ``usual_names``."""

    metric: str
    probability: float


class MetricRecognizer:
    """Recognizes the metrics that phrases mean. Thread-safe."""

    def __init__(self, tokens: MiniLmTokens, weights: RecognizerWeights | None = None) -> None:
        """``weights`` default to those that come with finray."""
        self._tokens = tokens
        self._weights = shipped_recognizer() if weights is None else weights

    def meant(self, phrase: str) -> Meant | None:
        """The metric that ``phrase`` means; None if it means none, or not surely enough."""
        x = phrase_features(phrase, self._tokens)
        if x is None:
            return None
        logits = scored(self._weights, x)
        logs = logits - np.logaddexp.reduce(logits)
        best = int(logs.argmax())
        metric, probability = self._weights.metrics[best], float(np.exp(logs[best]))
        known = metric in usual_names() and probability >= self._weights.threshold
        return Meant(metric, probability) if known else None


def phrase_features(phrase: str, tokens: MiniLmTokens) -> Floats | None:
    """float32 [3 * 384]: mean and maximum of the states of its tokens, and their mean without context; None if it has
    no tokens."""
    states = tokens.states(phrase)
    if not states.spans:
        return None
    result: Floats = np.concatenate(
        [states.contextual.mean(0), states.contextual.max(0), states.static.mean(0)], dtype=np.float32
    )
    return result


def scored(weights: RecognizerWeights, x: Floats) -> Floats:
    """Logits of the metrics, float32 [metrics], for ``x`` of :func:`phrase_features`."""
    hidden = np.maximum(x @ weights.hidden + weights.hidden_bias, 0)
    result: Floats = hidden @ weights.out + weights.out_bias
    return result


@cache
def shipped_recognizer() -> RecognizerWeights:
    """The weights that come with finray."""
    with resources.files("finray.question.measures").joinpath("metric_recognizer.npz").open("rb") as file:
        saved = np.load(file, allow_pickle=False)
        floats = (name for name in RecognizerWeights.__dataclass_fields__ if name not in ("metrics", "threshold"))
        return RecognizerWeights(
            **{name: saved[name].astype(np.float32) for name in floats},
            metrics=tuple(map(str, saved["metrics"])),
            threshold=float(saved["threshold"]),
        )

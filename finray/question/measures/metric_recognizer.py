"""Which metric a question asks for in words that the vocabulary lacks: "what it owes its suppliers", accounts payable.

A small network over MiniLM's token states weighs the tokens of a question and names the metric that they mean, or none:
most figures of a filing have no usual name. ``finray train metric-recognizer`` fits it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from finray.models.bert.weights import SIZE, Floats
from finray.models.token_states import TokenStates
from finray.question.measures.measure_tagger import Span, features, whole_words
from finray.question.measures.usual_names import usual_names
from finray.question.synonyms import words_of

NONE = "none"
"""The class of questions for any other figure."""
_CONTEXT = slice(0, 2)
"""Of the marked spans: companies and periods."""
_PAUSE = re.compile(r"[.?!:;,()]")
_LEAST_SHARE = 0.25
"""Least weight of a piece, of that of the heaviest."""


@dataclass(frozen=True, slots=True)
class RecognizerWeights:
    """``hidden`` [features, units] with ``hidden_bias``, ReLU, and ``telling`` [units] with ``telling_bias``: the log
    odds of each token to be of the metric's words. ``value`` [2 * 384, parts] with ``value_bias``, ReLU, is what a
    token adds; ``out`` [2 * parts, metrics] with ``out_bias`` names the metric from their weighted mean and their
    greatest. ``metrics`` are the classes: keys of ``usual_names``, other rows that sound like them, and none.
    ``threshold``: the least probability of a metric that counts."""

    hidden: Floats
    hidden_bias: Floats
    telling: Floats
    telling_bias: Floats
    value: Floats
    value_bias: Floats
    out: Floats
    out_bias: Floats
    metrics: tuple[str, ...]
    threshold: float


@dataclass(frozen=True, slots=True)
class Recognized:
    """``metric`` is a key of ``usual_names``, ``pieces`` are where the question's words for it stand, in
    reading order and apart."""

    metric: str
    pieces: tuple[Span, ...]
    probability: float


class MetricRecognizer:
    """Thread-safe."""

    def __init__(self, weights: RecognizerWeights | None = None) -> None:
        """``weights`` are by default those that come with finray."""
        self._weights = shipped_recognizer() if weights is None else weights

    def recognized(self, question: str, states: TokenStates, marked: Sequence[Iterable[Span]]) -> Recognized | None:
        """The metric that the whole ``question`` asks for; None if it is none, or not sure enough. ``marked`` as for
        :func:`finray.question.measures.measure_tagger.features`."""
        if not states.spans:
            return None
        telling, logits = scored(self._weights, token_features(question, states, marked))
        logs = logits - np.logaddexp.reduce(logits)
        best = int(logs.argmax())
        metric, probability = self._weights.metrics[best], float(np.exp(logs[best]))
        if metric not in usual_names() or probability < self._weights.threshold:
            return None
        context = [span for spans in marked[_CONTEXT] for span in spans]
        free = [not any(a < end and start < b for a, b in context) for start, end in states.spans]
        shares = np.exp(telling - np.logaddexp.reduce(telling))
        weighed = [
            (s, float(w))
            for s, w, odds, own in zip(states.spans, shares, telling, free, strict=True)
            if odds > 0 and own
        ]
        pieces = _pieces(question, weighed)
        return Recognized(metric, pieces, probability) if pieces else None


def token_features(question: str, states: TokenStates, marked: Sequence[Iterable[Span]]) -> Floats:
    """float32 [tokens, features]: as the tagger's, without the mean of the question."""
    x = features(question, states, marked)
    result: Floats = np.concatenate([x[:, : 2 * SIZE], x[:, 3 * SIZE :]], axis=1)
    return result


def scored(weights: RecognizerWeights, x: Floats) -> tuple[Floats, Floats]:
    """(log odds of the tokens [tokens], logits of the metrics [metrics]) for ``x`` of :func:`token_features`."""
    hidden = np.maximum(x @ weights.hidden + weights.hidden_bias, 0)
    telling: Floats = hidden @ weights.telling + weights.telling_bias
    shares = np.exp(telling - np.logaddexp.reduce(telling))
    values = np.maximum(x[:, : 2 * SIZE] @ weights.value + weights.value_bias, 0)
    greatest = (values / (1 + np.exp(-telling))[:, None]).max(0)
    logits: Floats = np.concatenate([shares @ values, greatest]) @ weights.out + weights.out_bias
    return telling, logits


def _pieces(question: str, tokens: Sequence[tuple[Span, float]]) -> tuple[Span, ...]:
    """Whole words: ``tokens`` with only function words between them are one piece, and pieces of little weight none."""
    pieces: list[tuple[Span, float]] = []
    for (start, end), weight in tokens:
        start, end = whole_words(question, start, end)
        if pieces and _is_bridged(question[pieces[-1][0][1] : start]):
            (start, _), before = pieces.pop()
            weight += before
        pieces.append(((start, end), weight))
    least = _LEAST_SHARE * max((weight for _, weight in pieces), default=0.0)
    return tuple(piece for piece, weight in pieces if weight >= least)


def _is_bridged(between: str) -> bool:
    return _PAUSE.search(between) is None and not words_of(between)


@cache
def shipped_recognizer() -> RecognizerWeights:
    """The weights that come with finray."""
    with resources.files("finray.question.measures").joinpath("metric_recognizer.npz").open("rb") as file:
        saved = np.load(file, allow_pickle=False)
        floats = (n for n in RecognizerWeights.__dataclass_fields__ if n not in ("metrics", "threshold"))
        return RecognizerWeights(
            **{name: saved[name].astype(np.float32) for name in floats},
            metrics=tuple(map(str, saved["metrics"])),
            threshold=float(saved["threshold"]),
        )

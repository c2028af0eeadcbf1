"""Recognizes the metric that a phrase means in words that the vocabulary lacks: "bill for income taxes" is income tax.

A small model (``finray.models.question_model``) reads the phrase alone and names the metric, or none: most figures of a
filing have no usual name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from finray.models.bert.tokens import placed_tokens
from finray.models.question_model import MAX_TOKENS, QuestionModel
from finray.question.measures.formulas import usual_names

NONE = "none"
"""The class of phrases for any other figure."""
_KEPT = 256
"""Phrases whose metrics are kept: rounds of a question, and questions of a bulk run, repeat them."""


@dataclass(frozen=True, slots=True)
class Meant:
    """A recognized metric, a key of ``usual_names``."""

    metric: str
    probability: float


class MetricRecognizer:
    """Recognizes the metrics that phrases mean. Thread-safe."""

    def __init__(self, model: QuestionModel) -> None:
        self._model = model
        self._kept = lru_cache(maxsize=_KEPT)(self._meant)

    def meant(self, phrase: str) -> Meant | None:
        """The metric that ``phrase`` means; None if it means none, or not surely enough."""
        return self._kept(phrase)

    def _meant(self, phrase: str) -> Meant | None:
        ids, _ = placed_tokens(phrase)
        if not ids:
            return None
        logs, labels = self._model.phrase(ids[:MAX_TOKENS]), self._model.labels
        best = int(logs.argmax())
        metric, probability = labels.metrics[best], float(np.exp(logs[best]))
        known = metric in usual_names() and probability >= labels.threshold
        return Meant(metric, probability) if known else None

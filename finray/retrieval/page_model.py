"""The linear model that weighs the features of pages.

``page_model.json`` has one weight per feature, fitted with MiniLM's vectors; ``page_model_static.json`` was fitted to
the same questions with vectors of the static encoder, whose cosines say less. ``finray train page-ranker`` fits the
weights so that the softmax of the scores over a question's candidates is the probability of being its evidence.
Probabilities are therefore comparable across filings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from finray.core.arrays import Floats
from finray.core.data_files import shipped
from finray.core.errors import ModelUnavailableError
from finray.models.encoder_loading import is_static
from finray.retrieval.page_features import FEATURES


@dataclass(frozen=True, slots=True)
class PageModel:
    """``weights`` is float64 [len(FEATURES)], in their order."""

    weights: Floats

    def probabilities(self, features: Floats) -> Floats:
        """float64 [n] that sum to one, for ``features`` float64 [n, len(FEATURES)] of one question's candidates."""
        if not len(features):
            return np.zeros(0)
        scores = features @ self.weights
        exponentials = np.exp(scores - scores.max())
        return np.asarray(exponentials / exponentials.sum())

    def reasons(self, features: Floats, count: int = 4) -> str:
        """The ``count`` features (float64 [len(FEATURES)]) that contributed most to a page's score, for the trace."""
        parts = features * self.weights
        strongest = np.argsort(-np.abs(parts), kind="stable")[:count]
        names = list(FEATURES)
        return ", ".join(f"{names[index]} {parts[index]:+.1f}" for index in strongest if abs(parts[index]) >= 0.05)


@cache
def shipped_page_model(encoder: str = "") -> PageModel:
    """The model that comes with finray for the encoder of this name (``encoder.model``).

    Raises ModelUnavailableError if its file is of another version.
    """
    name = "page_model_static.json" if is_static(encoder) else "page_model.json"
    return _from_json(shipped("finray.retrieval", name), name)


def load_page_model(path: str, encoder: str = "") -> PageModel:
    """A model that ``finray train page-ranker`` wrote; the shipped one for ``encoder`` if ``path`` is empty.

    Raises ModelUnavailableError.
    """
    if not path:
        return shipped_page_model(encoder)
    try:
        return _from_json(Path(path).read_text("utf-8"), path)
    except OSError as error:
        raise ModelUnavailableError(f"cannot read the page model {path!r}: {error}") from error


def page_model_json(weights: Floats, trained: Mapping[str, Any]) -> str:
    """The file's content; ``trained`` describes the training data."""
    named = {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)}
    return json.dumps({"weights": named, "trained": dict(trained)}, indent=1) + "\n"


def _from_json(text: str, source: str) -> PageModel:
    try:
        weights: dict[str, float] = json.loads(text)["weights"]
        if list(weights) != list(FEATURES):
            unlike = sorted(set(weights) ^ set(FEATURES)) or "their order"
            raise ValueError(f"its features differ from those of this version: {unlike}")
        return PageModel(np.asarray(list(weights.values()), dtype=np.float64))
    except (ValueError, KeyError, TypeError) as error:
        raise ModelUnavailableError(
            f"{source!r} is not a page model of this version: {error}; fit it again with `finray train page-ranker`"
        ) from error

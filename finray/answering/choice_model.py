"""Common parts of the fitted choices of cells, figures and sentences: a linear score, a logistic model of whether
the chosen one answers, and their files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from finray.core.arrays import Floats
from finray.core.errors import ModelUnavailableError

_MOST = 6.0
SURENESS: Final[Mapping[str, str]] = {
    "constant": "1",
    "mass": "probability of the chosen value among all",
    "sure": "its log odds, up to six",
    "margin": "score of the chosen one above that of the next different value, up to six",
}
"""Signals of any choice among scored candidates, in the order of :func:`sureness`."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The content of a model file. ``weights`` is float64 [features], ``answers`` float64 [signals], in the orders of
    their names; ``thresholds`` are by name."""

    weights: Floats
    answers: Floats
    thresholds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Likeliest:
    """The ``number`` of the likeliest candidate, the ``scores`` of all, float64 [candidates], and the ``probability``
    that it answers."""

    number: int
    scores: Floats
    probability: float


@dataclass(frozen=True, slots=True)
class ChoiceModel:
    """``weights`` is float64 [features], ``answers`` float64 [signals], in the orders of their names; ``threshold`` is
    the least probability with which a candidate answers."""

    weights: Floats
    answers: Floats
    threshold: float

    def likeliest(self, features: Floats, signals: Callable[[Floats, int], Floats]) -> Likeliest | None:
        """The likeliest of the candidates with ``features``, float64 [candidates, features], even if improbable; None
        if there are no candidates. ``signals`` takes the scores and a candidate's number, and returns float64
        [signals]."""
        if not len(features):
            return None
        scores = features @ self.weights
        best = int(scores.argmax())
        return Likeliest(best, scores, probability(signals(scores, best), self.answers))


def sureness(scores: Floats, best: int, same: npt.NDArray[np.bool_]) -> list[float]:
    """The SURENESS of candidate ``best``. ``scores`` is float64 [candidates]; ``same`` says which have its value."""
    odds = np.exp(scores - scores.max())
    mass = float(odds[same].sum() / odds.sum())
    rest = scores[~same]
    margin = float(scores[best] - rest.max()) if rest.size else _MOST
    log_odds = math.log(max(mass, 1e-6) / max(1 - mass, 1e-6))
    return [1.0, mass, min(log_odds, _MOST), min(max(margin, -_MOST), _MOST)]


def probability(signals: Floats, answers: Floats) -> float:
    """The probability of a logistic model with the weights ``answers``."""
    return 1 / (1 + math.exp(-float(signals @ answers)))


def read_fitted(
    text: str,
    source: str,
    chosen: str,
    features: Mapping[str, str],
    signals: Mapping[str, str],
    thresholds: Sequence[str] = ("threshold",),
) -> Fitted:
    """The content of a file of :func:`fitted_json`. ``chosen`` says what the model chooses, in the plural. Raises
    ModelUnavailableError if the file is of another version."""
    try:
        content = json.loads(text)
        parts = []
        for part, names in (("weights", features), ("answers", signals)):
            if set(content[part]) != set(names):
                raise ValueError(f"{part} are of another version: {sorted(set(content[part]) ^ set(names))}")
            parts.append(np.asarray([float(content[part][name]) for name in names]))
        return Fitted(parts[0], parts[1], {name: float(content[name]) for name in thresholds})
    except (ValueError, KeyError, TypeError) as error:
        raise ModelUnavailableError(f"{source} is no model of {chosen}: {error}; fit it again") from error


def fitted_json(
    model: Fitted, features: Mapping[str, str], signals: Mapping[str, str], trained: Mapping[str, Any]
) -> str:
    """The file's content; ``trained`` describes the training data."""
    named = {
        "weights": {name: round(float(weight), 4) for name, weight in zip(features, model.weights, strict=True)},
        "answers": {name: round(float(weight), 4) for name, weight in zip(signals, model.answers, strict=True)},
        **{name: round(value, 4) for name, value in model.thresholds.items()},
    }
    return json.dumps({"trained": dict(trained), **named}, indent=1) + "\n"


def read_linear(text: str, source: str, of: str, features: Mapping[str, str]) -> Floats:
    """The weights in a file of :func:`linear_json`, float64 [len(features)]. ``of`` says what they score. Raises
    ModelUnavailableError if the file is of another version."""
    try:
        weights = {str(name): float(weight) for name, weight in json.loads(text)["weights"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelUnavailableError(f"{source} has no weights of {of}: {error!r}; fit it again") from error
    if set(weights) != set(features):
        odd = ", ".join(sorted(set(weights) ^ set(features)))
        raise ModelUnavailableError(f"{source} has other features than this version ({odd}); fit it again")
    return np.asarray([weights[name] for name in features])


def linear_json(weights: Floats, features: Mapping[str, str], trained: Mapping[str, Any]) -> str:
    """The file's content; ``trained`` describes the training data."""
    named = {name: round(float(weight), 4) for name, weight in zip(features, weights, strict=True)}
    return json.dumps({"trained": dict(trained), "weights": named}, indent=1) + "\n"

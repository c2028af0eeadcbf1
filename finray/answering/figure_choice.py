"""Chooses the figure of a sentence that answers a question, or none: a linear model, fitted by ``finray train
figure-choice``.

The softmax of the scores over a question's figures is the probability of being the one that is asked for; figures of
the same value share theirs. A second, logistic model over SIGNALS is the probability that the chosen value answers at
all. Below a threshold none is chosen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from finray.answering.cell_choice import OF_QUESTION
from finray.answering.figure_features import FEATURES, FigureCandidates
from finray.answering.sentence_features import Floats
from finray.core.data_files import shipped
from finray.core.errors import ModelUnavailableError

_OF_BEST: Final = (
    "sentence_words", "sentence_near", "sentence_page_rank", "sentence_other_years", "clause", "surplus", "uncounted",
    "percent_unasked", "amount_other", "near_unit", "named", "unnamed", "in_question", "other_year", "small", "most",
)  # fmt: skip
SIGNALS: Final[Mapping[str, str]] = {
    "constant": "1",
    "mass": "probability of the chosen value among all",
    "sure": "its log odds, up to six",
    "margin": "score of the chosen figure above that of the next different value, up to six",
    **{name: f"{name} of the chosen figure" for name in _OF_BEST},
    **OF_QUESTION,
}
_MOST = 6.0


@dataclass(frozen=True, slots=True)
class FigureChoice:
    """Figure ``number`` of the candidates was chosen; ``probability`` is that its value is what is asked for."""

    number: int
    probability: float


@dataclass(frozen=True, slots=True)
class FigureModel:
    """``weights`` is float64 [len(FEATURES)], ``answers`` float64 [len(SIGNALS)], in their orders; ``threshold`` is the
    least probability with which a figure answers."""

    weights: Floats
    answers: Floats
    threshold: float

    def choose(self, found: FigureCandidates, asked: Floats) -> FigureChoice | None:
        """The likeliest figure whatever its probability; None without figures. ``asked`` are the
        :func:`~finray.answering.cell_choice.question_signals`."""
        if not found.figures:
            return None
        scores = found.features @ self.weights
        logit = float(signals(found, scores, asked) @ self.answers)
        return FigureChoice(int(np.argmax(scores)), 1 / (1 + math.exp(-logit)))


def signals(found: FigureCandidates, scores: Floats, asked: Floats) -> Floats:
    """The SIGNALS of the figure with the largest score, float64 [len(SIGNALS)]."""
    best = int(np.argmax(scores))
    chosen = found.figures[best]
    same = np.asarray([(f.value, f.kind) == (chosen.value, chosen.kind) for f in found.figures])
    odds = np.exp(scores - scores.max())
    mass = float(odds[same].sum() / odds.sum())
    rest = scores[~same]
    margin = float(scores[best] - rest.max()) if rest.size else _MOST
    log_odds = math.log(max(mass, 1e-6) / max(1 - mass, 1e-6))
    column = {name: at for at, name in enumerate(FEATURES)}
    own = [float(found.features[best, column[name]]) for name in _OF_BEST]
    return np.asarray([1.0, mass, min(log_odds, _MOST), min(max(margin, -_MOST), _MOST), *own, *asked])


@cache
def shipped_figure_model() -> FigureModel:
    """The model that comes with finray. Raises ModelUnavailableError if its file is of another version."""
    return read_figure_model(shipped("finray.answering", "figure_choice.json"), "figure_choice.json")


def read_figure_model(text: str, source: str) -> FigureModel:
    """Raises ModelUnavailableError."""
    try:
        content = json.loads(text)
        parts = []
        for part, names in (("weights", FEATURES), ("answers", SIGNALS)):
            if set(content[part]) != set(names):
                raise ValueError(f"{part} are of another version: {sorted(set(content[part]) ^ set(names))}")
            parts.append(np.asarray([float(content[part][name]) for name in names]))
        return FigureModel(parts[0], parts[1], float(content["threshold"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ModelUnavailableError(f"{source} is no model of figures: {error}; fit it again") from error


def figure_model_json(model: FigureModel, trained: Mapping[str, Any]) -> str:
    """The file's content; ``trained`` describes the training data."""
    named = {
        "weights": {name: round(float(weight), 4) for name, weight in zip(FEATURES, model.weights, strict=True)},
        "answers": {name: round(float(weight), 4) for name, weight in zip(SIGNALS, model.answers, strict=True)},
        "threshold": round(model.threshold, 4),
    }
    return json.dumps({"trained": dict(trained), **named}, indent=1) + "\n"

"""Chooses the company that a question is about from the evidence in the filings, or none (``company_choice.json``)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from finray.core.arrays import Floats
from finray.core.fitted import shipped_weights
from finray.retrieval.company_features import FEATURES, SIGNALS, CompanyCandidates, choice_signals

THRESHOLD: Final = "threshold"
NAMES: Final = (*(f"company {name}" for name in FEATURES), *(f"sure {name}" for name in SIGNALS), THRESHOLD)
"""The weights in the file, in order."""


@dataclass(frozen=True, slots=True)
class CompanyModel:
    """``weights`` is float64 [len(FEATURES)], ``answers`` float64 [len(SIGNALS)], in their order. A company with a
    probability below ``threshold`` is not chosen."""

    weights: Floats
    answers: Floats
    threshold: float

    def choose(self, found: CompanyCandidates) -> tuple[str, float]:
        """The likeliest company and its probability. ``found`` must not be empty."""
        scores = np.asarray(found.features @ self.weights)
        odds = float(choice_signals(found, scores) @ self.answers)
        return found.companies[int(np.argmax(scores))], 1 / (1 + math.exp(-odds))


@cache
def shipped_company_model() -> CompanyModel:
    """The model that comes with finray. Raises ModelUnavailableError if its file is of another version."""
    weights = shipped_weights("finray.retrieval", "company_choice.json", NAMES).weights
    values = np.asarray([weights[name] for name in NAMES])
    return CompanyModel(values[: len(FEATURES)], values[len(FEATURES) : -1], float(values[-1]))

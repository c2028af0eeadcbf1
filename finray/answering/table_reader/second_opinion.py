"""Compares a figure that a plan computed with the readings of the tables.

A plan looks up the question's words by rules; a trained model chooses a reading. If they differ, the plan is seldom
right, unless its rows are those that define a named metric.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from finray.answering.plans.wording import asked_value
from finray.answering.table_reader.reading_choice import Choice
from finray.answering.table_reader.reading_features import unit_of
from finray.answering.table_reader.readings import Readings
from finray.core.arrays import Floats
from finray.core.query import Query

_SAME_VALUE = 0.006
"""Relative tolerance: figures may be rounded, as the question asks for."""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """``agreed``: the likeliest reading states the figure; ``probability``: of that reading to answer. ``mass``: share
    of the readings, weighted by likelihood, that state the figure; ``read``: any does."""

    agreed: bool
    probability: float
    mass: float
    read: bool


def second_opinion(value: float, query: Query, found: Readings, choice: Choice) -> SecondOpinion:
    """The opinion on ``value``, in the unit in which an answer to ``query`` states it."""
    stated = (_stated(found, at, query) for at in range(len(found.readings)))
    states = np.asarray([math.isclose(abs(each), abs(value), rel_tol=_SAME_VALUE) for each in stated])
    odds: Floats = np.exp(choice.scores - choice.scores.max())
    return SecondOpinion(
        bool(states[choice.number]), choice.probability, float(odds[states].sum() / odds.sum()), bool(states.any())
    )


def _stated(found: Readings, at: int, query: Query) -> float:
    reading = found.readings[at]
    unit = unit_of(reading.operation, found.cells_of(reading))
    return asked_value(float(found.values[at]), unit, query.shape)[0]

"""What the readings of the tables say of a figure that a plan computed.

A plan looks the question's words up by rules, a reading is chosen by a trained model: where they differ the plan is
seldom right, unless its rows are those that define a named metric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from finray.answering.plans.wording import asked_value
from finray.answering.table_reader.reading_choice import Choice
from finray.answering.table_reader.reading_features import unit_of
from finray.answering.table_reader.readings import Readings
from finray.core.arrays import Floats
from finray.core.query import Query

_SAME_VALUE = 0.006
"""Figures are compared as the question asks for them, so they may be rounded."""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """``agreed``: the likeliest reading states the figure; ``probability`` is that this reading answers. ``mass`` is
    the share of all readings, by likelihood, that state the figure; ``read``: any does."""

    agreed: bool
    probability: float
    mass: float
    read: bool


def second_opinion(value: float, query: Query, found: Readings, choice: Choice) -> SecondOpinion:
    """The opinion on ``value``, in the unit in which an answer to ``query`` states it."""
    states = np.asarray([_is_near(_stated(found, at, query), value) for at in range(len(found.readings))])
    odds: Floats = np.exp(choice.scores - choice.scores.max())
    return SecondOpinion(
        bool(states[choice.number]), choice.probability, float(odds[states].sum() / odds.sum()), bool(states.any())
    )


def _stated(found: Readings, at: int, query: Query) -> float:
    reading = found.readings[at]
    unit = unit_of(reading.operation, [found.shortlist.cells[cell] for cell in reading.cells])
    return asked_value(float(found.values[at]), unit, query.shape)[0]


def _is_near(a: float, b: float) -> bool:
    return abs(abs(a) - abs(b)) <= _SAME_VALUE * max(abs(a), abs(b))

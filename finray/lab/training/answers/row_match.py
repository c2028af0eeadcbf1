"""Fits ``finray.answering.cells.row_weights``: a conditional logit over the cells that compete for a phrase.

The utility of a cell is SHARPNESS times the logarithm of its score, because scores are products. The weights start at
the prior values and are penalized for leaving them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from finray.answering.cells.row_weights import (
    THRESHOLDS,
    Reading,
    RowWeights,
    Standing,
    row_weights,
    standing_factor,
    weigh,
)
from finray.core.arrays import Floats
from finray.lab.training.group_folds import folds_by_group

SHARPNESS = 20.0
"""A cell with a 5% higher score is e times as likely."""
WEAK_WORDS = (0.25, 0.5)
"""Readings are stored for these two weights of weak words and interpolated: their sums are linear in the weight."""
_STEP = 1e-6
_LEAST = 1e-9
_BOUNDS = {
    "statement": (1.0, 1.5),
    "worse_reading": (0.0, 0.5),
    "unasked": (0.0, 0.95),
    "unasked_in_concept": (0.0, 0.95),
}
_FACTOR = (0.05, 1.0)


@dataclass(frozen=True, slots=True)
class CellReadings:
    """The readings of a cell by its words and by the name of its concept, each for both of WEAK_WORDS."""

    plain: tuple[tuple[Reading, Reading], ...]
    tagged: tuple[tuple[Reading, Reading], ...]
    has_concept: bool
    standing: Standing
    gold: bool


@dataclass(frozen=True, slots=True)
class RowChoice:
    """A phrase and the cells that compete for it, some of them gold. Folds do not split a ``group``."""

    qid: str
    group: str
    cells: tuple[CellReadings, ...]


class RowTable:
    """Choices as arrays."""

    def __init__(self, choices: Sequence[RowChoice]) -> None:
        cells = [cell for choice in choices for cell in choice.cells]
        self._readings = [_Part([cell.plain for cell in cells]), _Part([cell.tagged for cell in cells])]
        self._has_concept = np.asarray([cell.has_concept for cell in cells])
        self._standing = Standing(*np.asarray([cell.standing for cell in cells], dtype=np.float64).T)
        self._gold = np.asarray([cell.gold for cell in cells])
        counts = [len(choice.cells) for choice in choices]
        self._starts = np.cumsum([0, *counts[:-1]])
        self._choice = np.repeat(np.arange(len(counts)), counts)

    def scores(self, w: RowWeights) -> Floats:
        """float64 [cells], as in finray.answering.cells.lookup, except for the page."""
        return np.asarray(self.fits(w) * standing_factor(self._standing, w))

    def fits(self, w: RowWeights) -> Floats:
        """float64 [cells], as in finray.answering.cells.row_match."""
        plain, tagged = (part.best(w) for part in self._readings)
        first, second = np.maximum(plain, tagged), np.minimum(plain, tagged)
        both = (1 - w.worse_reading) * first + w.worse_reading * second
        return np.asarray(np.where(self._has_concept, both, plain))

    def best_fits(self, w: RowWeights) -> Floats:
        """float64 [choices]: the best fit of each choice."""
        return np.asarray(np.maximum.reduceat(self.fits(w), self._starts))

    def loss(self, w: RowWeights) -> float:
        """Negative log-likelihood that a gold cell is chosen."""
        utilities = SHARPNESS * np.log(self.scores(w) + _LEAST)
        utilities -= np.maximum.reduceat(utilities, self._starts)[self._choice]
        odds = np.exp(utilities)
        gold = np.add.reduceat(odds * self._gold, self._starts)
        return float(np.sum(np.log(np.add.reduceat(odds, self._starts)) - np.log(gold + _LEAST)))

    def first(self, w: RowWeights) -> list[float]:
        """For each choice, the share of gold cells among those with the best score."""
        scores = self.scores(w).round(9)
        best = scores == np.maximum.reduceat(scores, self._starts)[self._choice]
        return list(
            np.add.reduceat(best & self._gold, self._starts, dtype=np.float64)
            / np.add.reduceat(best, self._starts, dtype=np.float64)
        )


class _Part:
    """The readings of all cells by one source: their words or their concepts."""

    def __init__(self, cells: Sequence[Sequence[tuple[Reading, Reading]]]) -> None:
        pairs = np.asarray([pair for cell in cells for pair in cell], dtype=np.float64)
        pairs = pairs.reshape(-1, 2, len(Reading._fields))
        self._low, self._high = pairs[:, 0].T.copy(), pairs[:, 1].T.copy()
        self._cell = np.repeat(np.arange(len(cells)), [len(cell) for cell in cells])
        self._n_cells = len(cells)

    def best(self, w: RowWeights) -> Floats:
        """float64 [cells]: the best score among the readings of each cell, or 0 without readings."""
        at = (w.weak_word - WEAK_WORDS[0]) / (WEAK_WORDS[1] - WEAK_WORDS[0])
        scores = weigh(Reading(*(self._low + at * (self._high - self._low))), w).score
        best = np.zeros(self._n_cells)
        np.maximum.at(best, self._cell, scores)
        return best


def fit_row_match(choices: Sequence[RowChoice], prior: Mapping[str, float], l2: float) -> dict[str, float]:
    """The weights that maximize the penalized likelihood. ``l2`` penalizes weights away from ``prior``, scaled like the
    utilities. THRESHOLDS do not affect the likelihood; they are set so that the share of ``choices`` without a cell
    above them stays the same."""
    if not choices:
        return dict(prior)
    table = RowTable(choices)
    names = [name for name in prior if name not in THRESHOLDS]
    start = np.asarray([prior[name] for name in names])

    def named(values: Floats) -> dict[str, float]:
        return {**prior, **dict(zip(names, values.tolist(), strict=True))}

    def loss(values: Floats) -> float:
        away = SHARPNESS * (values - start)
        return table.loss(row_weights(named(values))) + l2 * float(away @ away) / 2

    def gradient(values: Floats) -> Floats:
        here = loss(values)
        return np.asarray([(loss(values + _STEP * unit) - here) / _STEP for unit in np.eye(len(names))])

    bounds = [_BOUNDS.get(name, _FACTOR) for name in names]
    fitted = named(minimize(loss, start, jac=gradient, method="L-BFGS-B", bounds=bounds).x)
    before, after = (table.best_fits(row_weights(weights)) for weights in (prior, fitted))
    refused = {name: float(np.mean(before < prior[name])) for name in THRESHOLDS}
    return fitted | {name: float(np.quantile(after, share)) for name, share in refused.items()}


def held_out(choices: Sequence[RowChoice], prior: Mapping[str, float], l2: float) -> list[tuple[float, float]]:
    """For each choice, the share of the first cells that are gold: by weights fitted without its company, and by the
    prior."""
    result: list[tuple[float, float]] = []
    by_hand = row_weights(prior)
    for rest, own in folds_by_group(choices, lambda choice: choice.group):
        weights = row_weights(fit_row_match(rest, prior, l2))
        table = RowTable(own)
        result += zip(table.first(weights), table.first(by_hand), strict=True)
    return result

"""Fits ``finray.retrieval.filing_match``: a conditional logit over the filings of a question's company.

The weights start at the prior values and are penalized for leaving them, so a relation without data keeps its prior.
Bounds preserve what callers rely on: scores in [0, 1], and each period relation on its side of PERIOD_MATCH.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from finray.core.arrays import Floats
from finray.lab.training.group_folds import folds_by_group
from finray.retrieval.filing_match import PERIOD_MATCH, cover_score
from finray.retrieval.filing_relations import PERIODS, CoverRelations

SCALE = 20.0
"""Log-odds per point of score, as in the page model: 2 for a tenth."""
_BELOW_MATCH = 0.01
_STEP = 1e-6


@dataclass(frozen=True, slots=True)
class FilingChoice:
    """A question and the filings of one company. ``evidence`` holds for each gold filing the acceptable candidates, any
    of which is enough. Folds do not split a ``group``: the company."""

    qid: str
    group: str
    candidates: tuple[CoverRelations, ...]
    evidence: tuple[frozenset[int], ...]


class _Table:
    """Choices as arrays; each evidence of a choice has a candidate. Each distinct candidate is scored once."""

    def __init__(self, choices: Sequence[FilingChoice]) -> None:
        kinds: dict[CoverRelations, int] = {}
        kind_of: list[int] = []
        starts: list[int] = []
        shares: list[float] = []
        rows: list[tuple[int, int]] = []
        for choice in choices:
            starts.append(len(kind_of))
            for gold in choice.evidence:
                rows += [(len(shares), starts[-1] + row) for row in sorted(gold)]
                shares.append(1 / len(choice.evidence))
            kind_of += [kinds.setdefault(candidate, len(kinds)) for candidate in choice.candidates]
        self._kinds = list(kinds)
        self._at = np.asarray(kind_of, dtype=np.intp)
        self._starts = np.asarray(starts, dtype=np.intp)
        self._choice = np.repeat(np.arange(len(starts)), np.diff([*starts, len(kind_of)]))
        self._evidence = np.asarray([number for number, _ in rows], dtype=np.intp)
        self._gold = np.asarray([row for _, row in rows], dtype=np.intp)
        self._share = np.asarray(shares)

    def kind_scores(self, weights: Mapping[str, float]) -> Floats:
        return np.asarray([cover_score(kind, weights) for kind in self._kinds])

    def loss(self, kind_scores: Floats) -> tuple[float, Floats]:
        """Negative log-likelihood, and its gradient with respect to the scores of the kinds."""
        utilities = SCALE * kind_scores[self._at]
        utilities -= np.maximum.reduceat(utilities, self._starts)[self._choice]
        odds = np.exp(utilities)
        probabilities = odds / np.add.reduceat(odds, self._starts)[self._choice]
        held = np.bincount(self._evidence, probabilities[self._gold], len(self._share))
        by_row = probabilities.copy()  # the shares of a choice add up to 1
        np.add.at(by_row, self._gold, -self._share[self._evidence] * probabilities[self._gold] / held[self._evidence])
        gradient = np.bincount(self._at, SCALE * by_row, len(self._kinds))
        return -float(self._share @ np.log(held)), np.asarray(gradient, dtype=np.float64)


def fit_filing_match(choices: Sequence[FilingChoice], prior: Mapping[str, float], l2: float) -> dict[str, float]:
    """The weights that maximize the penalized likelihood. ``l2`` penalizes log-odds away from ``prior``."""
    informative = [choice for choice in choices if choice.evidence and all(choice.evidence)]
    if not informative:
        return dict(prior)
    table = _Table(informative)
    names = list(prior)
    start = np.asarray([prior[name] for name in names])

    def loss(values: Floats) -> tuple[float, Floats]:
        weights = dict(zip(names, values.tolist(), strict=True))
        scores = table.kind_scores(weights)
        value, by_kind = table.loss(scores)
        # Scores are linear in each weight, except for the best of several periods: use finite differences.
        gradient = np.asarray(
            [by_kind @ (table.kind_scores(weights | {name: weights[name] + _STEP}) - scores) / _STEP for name in names]
        )
        away = SCALE * (values - start)
        return value + l2 * float(away @ away) / 2, gradient + l2 * SCALE * away

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[_bounds(name, prior[name]) for name in names])
    return dict(zip(names, found.x.tolist(), strict=True))


def _bounds(name: str, prior: float) -> tuple[float, float]:
    if name not in PERIODS:
        return 0.0, 1.0
    if prior == 1.0:  # the exact period, the reference for the others
        return 1.0, 1.0
    return (PERIOD_MATCH, 1.0) if prior >= PERIOD_MATCH else (_BELOW_MATCH, PERIOD_MATCH - _BELOW_MATCH)


def found_at(choice: FilingChoice, weights: Mapping[str, float], k: int) -> float:
    """Expected share of the evidence among the ``k`` best filings if ties are broken at random."""
    if not choice.evidence:
        return 0.0
    scores = np.asarray([cover_score(candidate, weights) for candidate in choice.candidates]).round(9)
    shares = []
    for gold in choice.evidence:
        best = max((scores[row] for row in gold), default=-1.0)
        before = int((scores > best).sum())
        tied = int((scores == best).sum())
        own = sum(scores[row] == best for row in gold)
        # The probability that none of ``own`` is drawn into the remaining places for the tied filings.
        places = min(max(k - before, 0), tied)
        missed = 1.0
        for drawn in range(places):
            missed *= max(tied - own - drawn, 0) / (tied - drawn)
        shares.append(1 - missed if gold else 0.0)
    return float(np.mean(shares))


def held_out(
    choices: Sequence[FilingChoice], prior: Mapping[str, float], l2: float, ks: Sequence[int]
) -> dict[int, list[tuple[float, float]]]:
    """For each of ``ks``, :func:`found_at` of every choice with weights fitted without its company, and the prior."""
    result: dict[int, list[tuple[float, float]]] = {k: [] for k in ks}
    for rest, own in folds_by_group(choices, lambda choice: choice.group):
        weights = fit_filing_match(rest, prior, l2)
        for choice in own:
            for k in ks:
                result[k].append((found_at(choice, weights, k), found_at(choice, prior, k)))
    return result

"""Logistic models with an L2 penalty: which row of a question is right, and whether the chosen one is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.optimize import minimize

from finray.core.arrays import Floats


def conditional_logit(lists: Sequence[tuple[Floats, Floats]], l2: float) -> Floats:
    """Weights float64 [features] that maximize the penalized likelihood that a right row is chosen.

    Each question has the features of its rows, [rows, features], and how right each row is, [rows], not all 0. Raises
    ValueError without a question.
    """
    if not lists:
        raise ValueError("no question has its answer among its rows: nothing to learn from")
    features = np.concatenate([part for part, _ in lists])
    gold = np.concatenate([part for _, part in lists])
    counts = [len(part) for _, part in lists]
    starts = np.cumsum([0, *counts[:-1]])
    owner = np.repeat(np.arange(len(counts)), counts)

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = features @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        total, right = np.add.reduceat(odds, starts), np.add.reduceat(odds * gold, starts)
        right = np.maximum(right, np.finfo(float).tiny)
        gradient = features.T @ (odds / total[owner] - odds * gold / right[owner])
        return float(np.log(total / right).sum() + l2 * weights @ weights / 2), gradient + l2 * weights

    return np.asarray(minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x)


def logistic(x: Floats, y: Floats, penalty: Floats) -> Floats:
    """Weights float64 [features] that maximize the likelihood of ``y``, [rows] in [0, 1], given ``x``, [rows,
    features]. ``penalty`` is the L2 penalty of each weight."""

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = x @ weights
        gradient = x.T @ (1 / (1 + np.exp(-logits)) - y) + penalty * weights
        return float(np.logaddexp(0, logits).sum() - y @ logits + penalty @ weights**2 / 2), gradient

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x)


def penalties(names: Iterable[str], l2: float) -> Floats:
    """The L2 penalty of each named weight: ``l2``, but 0 for the constant."""
    return np.asarray([0.0 if name == "constant" else l2 for name in names])

"""Chooses the rows and sentences closest to a question by a linear model, and rates by a logistic one over SIGNALS how
likely they bear on it. ``finray train closest-rows`` fits both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from finray.answering.choice_model import probability, read_fitted
from finray.answering.closest.features import FEATURES, ClosestCandidates, asks_amount, shown_pieces
from finray.core.arrays import Floats
from finray.core.data_files import shipped
from finray.core.query import Query

MOST = 6
"""At most this many rows and sentences are chosen; their headings and totals are shown too."""
MARGIN = 2.0
"""Another row is chosen if its score is at most this much below the best one's."""
_MOST_MARGIN = 6.0
_OF_BEST: Final = (
    "near", "label", "aside", "table", "row", "dated", "misdated", "page", "page_rank", "surplus", "figures",
)  # fmt: skip
OF_QUESTION: Final[Mapping[str, str]] = {
    "named": "the question names a company of the index",
    "dated_question": "the question names a period",
    "metric": "the question names a metric",
    "amount": "the question does not ask for words, a person or a cause",
    "unseen": "share of the question's words that neither row, heading nor heads have, in the best row",
}
SIGNALS: Final[Mapping[str, str]] = {
    "constant": "1",
    "mass": "probability of the chosen rows among all",
    "margin": "score of the best row above the median, up to six",
    **{f"best_{name}": f"of the best row: {FEATURES[name]}" for name in _OF_BEST},
    **OF_QUESTION,
}


@dataclass(frozen=True, slots=True)
class ClosestModel:
    """``weights`` is float64 [len(FEATURES)], ``answers`` float64 [len(SIGNALS)], in their orders; ``threshold`` is the
    least probability with which rows are shown."""

    weights: Floats
    answers: Floats
    threshold: float

    def choose(self, found: ClosestCandidates, asked: Floats) -> tuple[list[int], float]:
        """The numbers of the chosen pieces, best first, and the probability that they bear on the question. ``asked``
        are the question's :func:`question_signals`; ``found`` must have a piece."""
        scores = np.asarray(found.features @ self.weights)
        chosen = shown_pieces(found, scores, MOST, MARGIN)
        return chosen, probability(signals(found, scores, chosen, asked), self.answers)


def question_signals(query: Query) -> Floats:
    """The OF_QUESTION signals except for the last, which is of the rows, float64 [len(OF_QUESTION) - 1]."""
    known = [bool(query.companies), bool(query.periods), bool(query.metrics), asks_amount(query)]
    return np.asarray(known, dtype=np.float64)


def signals(found: ClosestCandidates, scores: Floats, chosen: list[int], asked: Floats) -> Floats:
    """The SIGNALS of ``chosen``, float64 [len(SIGNALS)]."""
    odds = np.exp(scores - scores.max())
    best = dict(zip(FEATURES, found.features[chosen[0]], strict=True))
    values = [
        1.0,
        float(odds[chosen].sum() / odds.sum()),
        min(float(scores[chosen[0]] - np.median(scores)), _MOST_MARGIN),
        *(best[name] for name in _OF_BEST),
        *asked.tolist(),
        1 - best["near"],
    ]
    return np.asarray(values)


@cache
def shipped_closest_model() -> ClosestModel:
    """The model that comes with finray. Raises ModelUnavailableError if its file is of another version."""
    fitted = read_fitted(
        shipped("finray.answering.closest", "closest_rows.json"), "closest_rows.json", "rows", FEATURES, SIGNALS
    )
    return ClosestModel(fitted.weights, fitted.answers, fitted.thresholds["threshold"])

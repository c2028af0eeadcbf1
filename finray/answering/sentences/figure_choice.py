"""Chooses the figure of a sentence that answers a question, or none: a linear model, fitted by ``finray train
figure-choice``.

The softmax of the scores over a question's figures is the probability of each to be the one asked for; figures of the
same value share theirs. A second, logistic model over SIGNALS gives the probability that the chosen value answers at
all.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from finray.answering.choice_model import SURENESS, ChoiceModel, Likeliest, read_fitted, sureness
from finray.answering.sentences.figure_features import FEATURES, MOVES, FigureCandidates
from finray.core.arrays import Floats
from finray.core.data_files import shipped
from finray.core.query import Query

_OF_BEST: Final = (
    "read", "sentence_read", "sentence_words", "sentence_near", "sentence_page_rank", "sentence_other_years", "clause",
    "surplus", "uncounted", "percent_unasked", "amount_other", "near_unit", "named", "unnamed", "in_question",
    "other_year", "small", "most",
)  # fmt: skip
_BEST_COLUMNS: Final = [list(FEATURES).index(name) for name in _OF_BEST]
OF_QUESTION: Final[Mapping[str, str]] = {
    "unprinted": "share of the question's words that no sentence has",
    "stated_unit": "the question states the unit",
    "amount": "the question asks for an amount",
    "words": "the question asks for words",
    "moves": "the question asks for a change",
    "percent_moves": "the question asks for a change in percent",
    "aggregate": "the question asks for an average or a sum",
    "part_of": "the question asks for a share of something",
    "superlative": "the question asks for the highest or lowest",
    "yes_no": "a yes or no question",
    "periods": "the question names several periods",
    "companies": "the question names several companies",
    "planned": "a plan was made, and an operand of it is missing",
    "operands": "the plan has several operands",
}
SIGNALS: Final[Mapping[str, str]] = {
    **SURENESS,
    **{name: f"{name} of the chosen figure" for name in _OF_BEST},
    **OF_QUESTION,
}


class FigureModel(ChoiceModel):
    """Weighs FEATURES and SIGNALS."""

    def choose(self, found: FigureCandidates, asked: Floats) -> Likeliest | None:
        """The likeliest figure, however unlikely; None without any. ``asked``: :func:`question_signals`."""
        return self.likeliest(found.features, lambda scores, number: signals(found, scores, number, asked))


def signals(found: FigureCandidates, scores: Floats, best: int, asked: Floats) -> Floats:
    """The SIGNALS of figure ``best``, float64 [len(SIGNALS)]."""
    chosen = found.figures[best]
    same = np.asarray([(f.value, f.kind) == (chosen.value, chosen.kind) for f in found.figures])
    return np.asarray([*sureness(scores, best, same), *found.features[best, _BEST_COLUMNS], *asked])


def question_signals(query: Query, unprinted: float, operands: int) -> Floats:
    """The SIGNALS that do not depend on the figure. ``operands`` counts those of the plan, 0 without a plan."""
    intents = query.intents
    values = {
        "unprinted": unprinted,
        "stated_unit": query.shape.unit is not None,
        "amount": "amount" in intents,
        "words": "words" in intents,
        "moves": bool(intents & MOVES),
        "percent_moves": bool(intents & {"growth", "change", "moves"}) and query.shape.unit == "percent",
        "aggregate": "aggregate" in intents,
        "part_of": "share" in intents,
        "superlative": "superlative" in intents,
        "yes_no": "yes_no" in intents,
        "periods": len(query.asked) > 1,
        "companies": len(query.companies) > 1,
        "planned": operands > 0,
        "operands": operands > 1,
    }
    return np.asarray([float(values[name]) for name in OF_QUESTION])


@cache
def shipped_figure_model() -> FigureModel:
    """The model that comes with finray. Raises ModelUnavailableError if its file is of another version."""
    return read_figure_model(shipped("finray.answering.sentences", "figure_choice.json"), "figure_choice.json")


def read_figure_model(text: str, source: str) -> FigureModel:
    """Raises ModelUnavailableError."""
    fitted = read_fitted(text, source, "figures", FEATURES, SIGNALS)
    return FigureModel(fitted.weights, fitted.answers, **fitted.thresholds)

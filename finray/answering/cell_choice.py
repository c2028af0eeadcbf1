"""Chooses the cell that is the figure of a question, or none: a linear model, fitted by ``finray train cell-choice``.

The softmax of the scores over a question's cells is the probability of being the figure; cells that print the same
value share theirs. A second, logistic model over SIGNALS is the probability that the chosen value answers at all: the
question may ask for something that no cell prints, such as a difference. Below a threshold no cell is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from finray.answering.cell_features import FEATURES, CellCandidates, is_dash
from finray.answering.choice_model import SURENESS, probability, read_fitted, sureness
from finray.answering.page_cells import PageCell, measure_of
from finray.answering.sentence_features import Floats
from finray.core.data_files import shipped
from finray.core.query import Query

_OF_BEST: Final = (
    "row", "column", "section", "cover", "surplus", "surplus_column", "part", "fit", "end", "other_end", "undated",
    "months", "other_months", "no_balance", "year", "other_year", "percent", "unasked_percent", "plain", "statement",
    "named_statement", "first_page", "page", "change", "total", "figures",
    "other_figures", "bare", "opens",
)  # fmt: skip
OF_QUESTION: Final[Mapping[str, str]] = {
    "unprinted": "share of the question's words that no cell has",
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
    **{name: f"{name} of the chosen cell" for name in _OF_BEST},
    **OF_QUESTION,
}
_SAME_VALUE = 0.0005


@dataclass(frozen=True, slots=True)
class Choice:
    """``cell`` was chosen; ``probability`` is that its value is what the question asks for."""

    cell: PageCell
    probability: float


@dataclass(frozen=True, slots=True)
class CellModel:
    """``weights`` is float64 [len(FEATURES)], ``answers`` float64 [len(SIGNALS)], in their orders; ``threshold`` is the
    least probability with which a cell answers."""

    weights: Floats
    answers: Floats
    threshold: float

    def choose(self, found: CellCandidates, asked: Floats) -> Choice | None:
        """The likeliest cell whatever its probability; None without cells. ``asked`` are :func:`question_signals`."""
        if not found.cells:
            return None
        scores = found.features @ self.weights
        best = best_cell(found, scores)
        return Choice(found.cells[best], probability(signals(found, scores, best, asked), self.answers))


def best_cell(found: CellCandidates, scores: Floats) -> int:
    """The number of the cell with the largest score that prints a figure."""
    dashes = np.asarray([is_dash(cell.item) for cell in found.cells])
    return int(np.argmax(np.where(dashes, scores - 1e6, scores)))


def alike(found: CellCandidates, best: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which cells print the same value as cell ``best``, bool [len(cells)]."""
    chosen = found.cells[best].item
    values = np.asarray([cell.item.value for cell in found.cells])
    same_kind = np.asarray([measure_of(cell.item) == measure_of(chosen) for cell in found.cells])
    near = np.abs(np.abs(values) - abs(chosen.value)) <= _SAME_VALUE * np.maximum(np.abs(values), abs(chosen.value))
    return np.asarray(same_kind & near)


def signals(found: CellCandidates, scores: Floats, best: int, asked: Floats) -> Floats:
    """The SIGNALS of cell ``best``, float64 [len(SIGNALS)]."""
    column = {name: at for at, name in enumerate(FEATURES)}
    own = [float(found.features[best, column[name]]) for name in _OF_BEST]
    return np.asarray([*sureness(scores, best, alike(found, best)), *own, *asked])


def question_signals(query: Query, unprinted: float, operands: int) -> Floats:
    """The SIGNALS that do not depend on the cell. ``operands`` is how many the plan has, 0 without a plan."""
    intents = query.intents
    values = {
        "unprinted": unprinted,
        "stated_unit": query.shape.unit is not None,
        "amount": "amount" in intents,
        "words": "words" in intents,
        "moves": bool(intents & {"moves", "growth", "change", "difference", "rises", "falls", "difference_anywhere"}),
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
def shipped_cell_model() -> CellModel:
    """The model that comes with finray. Raises ModelUnavailableError if its file is of another version."""
    return read_cell_model(shipped("finray.answering", "cell_choice.json"), "cell_choice.json")


def read_cell_model(text: str, source: str) -> CellModel:
    """Raises ModelUnavailableError."""
    fitted = read_fitted(text, source, "cells", FEATURES, SIGNALS)
    return CellModel(fitted.weights, fitted.answers, **fitted.thresholds)

"""Chooses the reading of the tables that answers a question, or none: a linear model, fitted by ``finray train
table-reader``.

The softmax of the scores over a question's readings is the probability of each to be meant; readings with the same
value share theirs. A second, logistic model over SIGNALS gives the probability that the value of the likeliest one
answers at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from finray.answering.choice_model import SURENESS, ChoiceModel, read_fitted, sureness
from finray.answering.table_reader.looked_up import Sought
from finray.answering.table_reader.operations import NAMING, Reading
from finray.answering.table_reader.reading_features import FEATURES
from finray.answering.table_reader.readings import Readings
from finray.core.arrays import Floats
from finray.core.data_files import shipped
from finray.core.query import Query
from finray.models.row_reader import OPERATIONS, RowScores

OF_QUESTION: Final[Mapping[str, str]] = {
    "unprinted": "share of the question's words that no row has",
    "words": "the question asks for words",
    "yes_no": "a yes or no question",
    "periods": "the question names several periods",
    "companies": "the question names no company of the index, or several",
    "no_operation": "log probability that no figure of a table is asked for, by the row model",
    "other_operation": "log probability that another computation is asked for, by the row model",
    "sure_operation": "log probability of the likeliest operation, by the row model",
    "present": "log odds that all operands are among the rows, by the row model, up to six",
    "sought": "the question reader found words that name a quantity",
    "found": "share of the quantities, by period, that a look-up found",
}
SIGNALS: Final[Mapping[str, str]] = {
    **SURENESS,
    **{f"of_{name}": f"{meaning}, of the chosen reading" for name, meaning in FEATURES.items()},
    **OF_QUESTION,
}
_SAME_VALUE = 0.0005
_MOST = 6.0


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen ``reading``, its ``number`` among all, the ``scores`` of all, float64 [readings], and the
    ``probability`` that its value is what the question asks for."""

    reading: Reading
    number: int
    scores: Floats
    probability: float


class ReadingModel(ChoiceModel):
    """Weighs FEATURES and SIGNALS."""

    def choose(self, found: Readings, asked: Floats) -> Choice | None:
        """The likeliest reading, however unlikely; None without any. ``asked``: :func:`question_signals`."""
        best = self.likeliest(found.features, lambda scores, number: signals(found, scores, number, asked))
        if best is None:
            return None
        return Choice(found.readings[best.number], best.number, best.scores, best.probability)


def _same_value(found: Readings, best: int) -> npt.NDArray[np.bool_]:
    """Which readings have the value of reading ``best``, bool [len(readings)]."""
    names = np.asarray([reading.operation in NAMING for reading in found.readings])
    sizes = np.abs(found.values)
    near = np.abs(sizes - sizes[best]) <= _SAME_VALUE * np.maximum(sizes, sizes[best])
    return np.asarray(near & (names == names[best]))


def signals(found: Readings, scores: Floats, best: int, asked: Floats) -> Floats:
    """The SIGNALS of reading ``best``, float64 [len(SIGNALS)]."""
    return np.asarray([*sureness(scores, best, _same_value(found, best)), *found.features[best], *asked])


def question_signals(query: Query, rows: RowScores, unprinted: float, looked_for: Sought) -> Floats:
    """The SIGNALS that do not depend on the reading."""
    values: dict[str, Any] = {
        "unprinted": unprinted,
        "words": "words" in query.intents,
        "yes_no": "yes_no" in query.intents,
        "periods": len(query.asked) > 1,
        "companies": len(query.companies) != 1,
        "no_operation": rows.operations[OPERATIONS.index("none")],
        "other_operation": rows.operations[OPERATIONS.index("other")],
        "sure_operation": rows.operations[: OPERATIONS.index("other")].max(),
        "present": min(max(rows.present, -_MOST), _MOST),
        "sought": bool(looked_for.phrases),
        "found": looked_for.share,
    }
    return np.asarray([float(values[name]) for name in OF_QUESTION])


@cache
def shipped_reading_model() -> ReadingModel:
    """The model that comes with finray. Raises ModelUnavailableError if its file is of another version."""
    return read_reading_model(shipped("finray.answering.table_reader", "reading_choice.json"), "reading_choice.json")


def read_reading_model(text: str, source: str) -> ReadingModel:
    """Raises ModelUnavailableError."""
    fitted = read_fitted(text, source, "readings", FEATURES, SIGNALS)
    return ReadingModel(fitted.weights, fitted.answers, **fitted.thresholds)

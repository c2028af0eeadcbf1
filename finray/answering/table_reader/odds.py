"""The row model's scores of a question and its rows, as log probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from finray.answering.table_reader.operations import OPERATIONS, Operation
from finray.core.arrays import Floats, log_softmax
from finray.models.row_reader import MEASURES, RowScores

_LEAST_LOG: Final = math.log(0.004)
"""Operations less likely than this are not tried."""


@dataclass(frozen=True, slots=True)
class Odds:
    """Log probabilities of: the ``operations`` worth trying; each row to be the ``first`` or the ``second`` operand
    [rows]; each row to be one of several, or not (``listed``, ``unlisted`` [rows]); each row to be any operand
    (``operand`` [rows]); operands of one row and of ``several``; the first of two periods to be the later and the
    earlier one (``order``); what the operands measure (``measures``)."""

    operations: Mapping[Operation, float]
    first: Floats
    second: Floats
    listed: Floats
    unlisted: Floats
    operand: Floats
    several: tuple[float, float]
    order: tuple[float, float]
    measures: Mapping[str, float]

    @classmethod
    def of(cls, scores: RowScores) -> Odds:
        operations: dict[Operation, float] = {
            operation: float(score)
            for operation, score in zip(OPERATIONS, scores.operations[: len(OPERATIONS)], strict=True)
            if operation == "value" or score >= _LEAST_LOG
        }
        return cls(
            operations,
            log_softmax(scores.first),
            log_softmax(scores.second),
            np.asarray([_log_sigmoid(x) for x in scores.listed]),
            np.asarray([_log_sigmoid(-x) for x in scores.listed]),
            np.asarray([_log_sigmoid(x) for x in scores.operand]),
            (_log_sigmoid(-scores.several), _log_sigmoid(scores.several)),
            (_log_sigmoid(-scores.backwards), _log_sigmoid(scores.backwards)),
            dict(zip(MEASURES, scores.measures.tolist(), strict=True)),
        )


def _log_sigmoid(x: float) -> float:
    return -math.log1p(math.exp(-x)) if x > -30 else x

"""What the row model says of a question and its rows, as log probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from finray.answering.sentence_features import Floats
from finray.answering.table_reader.operations import OPERATIONS, Operation
from finray.models.row_reader import MEASURES, RowScores

_LEAST_LOG: Final = math.log(0.004)
"""Operations less likely than this are not tried."""


@dataclass(frozen=True, slots=True)
class Odds:
    """Log probabilities: ``operations`` that are worth trying; ``first`` and ``second`` [rows] to be an operand;
    ``listed`` and ``unlisted`` [rows] to be one of several, or not; ``operand`` [rows] to be any operand; ``several``
    that the operands are of one row and of several; ``order`` that the first of two periods is the later and the
    earlier one; ``measures`` of what they measure."""

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
            for operation, score in zip(OPERATIONS, scores.operations[:-1], strict=True)
            if score >= _LEAST_LOG or operation == "value"
        }
        return cls(
            operations,
            _log_softmax(scores.first),
            _log_softmax(scores.second),
            np.asarray([_log_sigmoid(x) for x in scores.listed]),
            np.asarray([_log_sigmoid(-x) for x in scores.listed]),
            np.asarray([_log_sigmoid(x) for x in scores.operand]),
            (_log_sigmoid(-scores.several), _log_sigmoid(scores.several)),
            (_log_sigmoid(-scores.backwards), _log_sigmoid(scores.backwards)),
            dict(zip(MEASURES, scores.measures.tolist(), strict=True)),
        )


def _log_sigmoid(x: float) -> float:
    return -math.log1p(math.exp(-x)) if x > -30 else x


def _log_softmax(x: Floats) -> Floats:
    if not x.size:
        return x
    shifted: Floats = x - x.max()
    return shifted - math.log(float(np.exp(shifted).sum()))

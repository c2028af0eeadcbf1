"""A small trained model that reads a question beside each row of a table (``row_reader.npz``).

After each row, a layer compares the rows of a question with one another. ``finray train row-reader`` fits it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from finray.core.arrays import Floats, log_softmax
from finray.models.bert.weights import State, linear_shapes, shipped_weights
from finray.models.pair_reader import STATE, PairReader, linear

OPERATIONS: Final = (
    "value", "difference", "growth", "share", "ratio", "sum", "average", "max", "min", "which_max", "which_min",
    "share_change", "share_average", "sum_share", "sum_ratio", "part_share", "rest_share", "sum_change", "gap_change",
    "sum_growth", "gap_growth", "net", "sum_less", "product", "change_share", "other", "none",
)  # fmt: skip
"""Computations over cells, of which the table reader computes the first eleven. The shipped weights tell the next
fourteen apart; new training counts them as "other", another computation. "none" is no figure of a table."""
MEASURES: Final = ("money", "shares", "per share", "percent", "number")
ROW_TOKENS: Final = 48
ROLES: Final = 4
"""Roles of a row: first operand, second operand, one of several, any operand."""
WEIGHTS: Final = "row_reader.npz"
_EPSILON = 1e-5
NARROW: Final = 192
"""Components of a row's state in the layer that compares rows with one another."""
NARROW_HEADS: Final = 4
ROW_HEADS: Final = {
    "roles": ROLES, "ops": len(OPERATIONS), "axis": 2, "measure": len(MEASURES), "order": 2, "narrow": NARROW
}  # fmt: skip
"""Outputs of the heads over the state of a row, or of the question."""
RIVAL_HEADS: Final = {"rivals": ROLES, "present": 1}
"""Outputs of the heads over the state of a row, or of the question, after the comparison."""


@dataclass(frozen=True, slots=True)
class RowScores:
    """Scores of rows and of the question, float64.

    ``first``, ``second`` and ``listed`` [rows] are logits: the row is the first operand (the only one, the numerator,
    what is compared), the second one (the denominator, what it is compared with), or one of several that are added up
    or ranked. ``operations`` [len(OPERATIONS)] and ``measures`` [len(MEASURES)], what the operands measure, are log
    probabilities. The others are log odds: ``operand`` [rows] that a row is any operand, ``present`` that all operands
    are among the rows, ``several`` that the operands come from several rows, not from several periods of one,
    ``backwards`` that the first of two operands is of the earlier period ("by how much did it fall").
    """

    first: Floats
    second: Floats
    listed: Floats
    operand: Floats
    present: float
    operations: Floats
    several: float
    measures: Floats
    backwards: float


class RowReader(PairReader):
    """Reads rows of tables. Raises ModelUnavailableError if MiniLM's package is missing or weights do not fit."""

    def __init__(self, weights: State | None = None) -> None:
        """``weights`` are by default those that come with finray."""
        super().__init__(shipped_weights(WEIGHTS) if weights is None else weights, _shapes())

    def rows(self, question: str, rows: Sequence[str]) -> RowScores:
        """Scores of ``rows`` as operands of the computation that ``question`` asks for."""
        states = self.states(question, [*rows, ""], ROW_TOKENS)
        roles, present = self._roles(states)
        first, second, listed, operand = roles[:-1].T
        operations, measures = (log_softmax(self.head(name, states[-1])) for name in ("ops", "measure"))
        several, backwards = (
            float(logits[1] - logits[0]) for logits in (self.head(name, states[-1]) for name in ("axis", "order"))
        )
        return RowScores(first, second, listed, operand, present, operations, several, measures, backwards)

    def _roles(self, states: Floats) -> tuple[Floats, float]:
        """Logits of the roles, [rows + 1, ROLES], each the sum of those from the row alone and from the comparison, and
        the log odds that all operands are present. ``states`` [rows + 1, STATE] end with the question alone."""
        compared = self._compared(self.head("narrow", states))
        present = float(self.head("present", compared[-1])[0])
        return self.head("roles", states) + self.head("rivals", compared), present

    def _compared(self, rows: Floats) -> Floats:
        """The states of rows after a pre-norm transformer layer over all of them: [rows + 1, NARROW]."""
        projected = self._normed("norm1", rows) @ self._heads["among.self_attn.in_proj_weight"].T
        projected += self._heads["among.self_attn.in_proj_bias"]
        query, key, value = (
            part.reshape(len(rows), NARROW_HEADS, -1).transpose(1, 0, 2) for part in np.split(projected, 3, axis=1)
        )
        weights = np.exp(log_softmax(query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])))
        attention = (weights @ value).transpose(1, 0, 2).reshape(len(rows), NARROW)
        rows = rows + self._among("self_attn.out_proj", attention)
        inner = np.maximum(self._among("linear1", self._normed("norm2", rows)), 0)
        return rows + self._among("linear2", inner)

    def _among(self, name: str, rows: Floats) -> Floats:
        return linear(self._heads, f"among.{name}", rows)

    def _normed(self, name: str, rows: Floats) -> Floats:
        spread = np.sqrt(rows.var(axis=1, keepdims=True) + _EPSILON)
        centered = (rows - rows.mean(axis=1, keepdims=True)) / spread
        normed: Floats = centered * self._heads[f"among.{name}.weight"] + self._heads[f"among.{name}.bias"]
        return normed


def _shapes() -> dict[str, tuple[int, ...]]:
    linears = {"self_attn.out_proj": NARROW, "linear1": 2 * NARROW}
    among = {
        **linear_shapes(linears, NARROW), **linear_shapes({"linear2": NARROW}, 2 * NARROW),
        "self_attn.in_proj_weight": (3 * NARROW, NARROW), "self_attn.in_proj_bias": (3 * NARROW,),
        **{f"{norm}.{kind}": (NARROW,) for norm in ("norm1", "norm2") for kind in ("weight", "bias")},
    }  # fmt: skip
    own = {f"among.{name}": shape for name, shape in among.items()}
    return linear_shapes(ROW_HEADS, STATE) | linear_shapes(RIVAL_HEADS, NARROW) | own


@cache
def row_reader() -> RowReader:
    """The reader that comes with finray, loaded once per process."""
    return RowReader()

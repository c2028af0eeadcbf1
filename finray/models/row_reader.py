"""A small trained model that reads a question beside each row of a table (``row_reader.npz``).

After each row, a layer compares the rows of a question with one another. ``finray train row-reader`` fits it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from finray.models.pair_reader import Logits, PairReader, State, linear, shipped_weights

OPERATIONS: Final = (
    "value", "difference", "growth", "share", "ratio", "sum", "average", "max", "min", "which_max", "which_min",
    "share_change", "share_average", "sum_share", "sum_ratio", "part_share", "rest_share", "sum_change", "gap_change",
    "sum_growth", "gap_growth", "net", "sum_less", "product", "change_share", "other", "none",
)  # fmt: skip
"""Of cells; another computation; and none, because no figure of a table is asked for."""
MEASURES: Final = ("money", "shares", "per share", "percent", "number")
ROW_TOKENS: Final = 48
ROLES: Final = 4
"""First operand, second one, one of several, and an operand at all."""
WEIGHTS: Final = "row_reader.npz"
_ASKED_AT_ONCE = 64
"""Questions whose own state is kept: rankings and the choice of rows both ask for it."""
_NARROW = 192
"""Components of a row's state in the layer that compares rows with one another."""


@dataclass(frozen=True, slots=True)
class RowScores:
    """Logits, float64. ``first``, ``second`` and ``listed`` [rows]: the row is the first operand (the only one, the
    numerator, what is compared), the second one (the denominator, what it is compared with), or one of several that are
    added up or ranked. ``operand`` [rows] is the log odds of each row to be any of these, ``present`` that all operands
    are among the rows. ``operations`` [len(OPERATIONS)] and ``measures`` [len(MEASURES)], what the operands measure,
    are log probabilities; ``several`` is the log odds that the operands are of several rows, not of several periods of
    one; ``backwards`` that the first of two operands is of the earlier period: "by how much did it fall"."""

    first: Logits
    second: Logits
    listed: Logits
    operand: Logits
    present: float
    operations: Logits
    several: float
    measures: Logits
    backwards: float


class RowReader(PairReader):
    """Raises ModelUnavailableError if MiniLM's package is missing or weights do not fit."""

    def __init__(self, weights: State | None = None) -> None:
        """``weights`` are by default those that come with finray: the module's state, as float arrays."""
        super().__init__(shipped_weights(WEIGHTS) if weights is None else weights, row_heads())
        self._alone = lru_cache(maxsize=_ASKED_AT_ONCE)(self._read_alone)

    def rows(self, question: str, rows: Sequence[str]) -> RowScores:
        """How each of ``rows`` may serve in the computation that ``question`` asks for."""
        states = self.states(question, [*rows, ""], ROW_TOKENS)
        with self._torch.inference_mode():
            read, present = role_logits(self.heads, [states])
            roles = read[:-1].double().numpy()
            operations, measures = (
                self._torch.log_softmax(self.heads[name](states[-1]), -1).double().numpy()
                for name in ("ops", "measure")
            )
            several, backwards = (
                float(logits[1] - logits[0]) for logits in (self.heads[name](states[-1]) for name in ("axis", "order"))
            )
        first, second, listed, operand = roles.T
        there = float(present[0])
        return RowScores(first, second, listed, operand, there, operations, several, measures, backwards)

    def operations(self, question: str) -> Logits:
        """Log probabilities of OPERATIONS, before any row is read, float64 [len(OPERATIONS)]."""
        with self._torch.inference_mode():
            found: Logits = self._torch.log_softmax(self.heads["ops"](self._alone(question)), -1).double().numpy()
        return found

    def question_state(self, question: str) -> Logits:
        """The state of ``question`` alone, float64 [STATE]: what linear heads read that say what it asks for."""
        state: Logits = self._alone(question).double().numpy()
        return state

    def _read_alone(self, question: str) -> Any:
        return self.states(question, [""], ROW_TOKENS)[0]


def row_heads() -> dict[str, Any]:
    """The heads before training: roles of a row, and what the question alone tells."""
    import torch

    heads: dict[str, Any] = {
        "roles": linear(ROLES),
        "ops": linear(len(OPERATIONS)),
        "axis": linear(2),
        "measure": linear(len(MEASURES)),
        "order": linear(2),
        "narrow": linear(_NARROW),
        "among": torch.nn.TransformerEncoderLayer(_NARROW, 4, 2 * _NARROW, batch_first=True, norm_first=True),
        "rivals": torch.nn.Linear(_NARROW, ROLES),
        "present": torch.nn.Linear(_NARROW, 1),
    }
    torch.nn.init.zeros_(heads["rivals"].weight)
    torch.nn.init.zeros_(heads["rivals"].bias)
    return heads


def role_logits(heads: Mapping[str, Any], states: Sequence[Any]) -> tuple[Any, Any]:
    """Of rows [sum of the lengths of ``states``, ROLES], each by itself and beside the others of its question, and of
    questions [len(states)], whether their operands are present. ``states``: for each question [rows + 1, STATE], the
    question alone last."""
    import torch

    together = torch.cat(list(states))
    narrow = heads["narrow"](together).split([len(own) for own in states])
    padded = torch.nn.utils.rnn.pad_sequence(list(narrow), batch_first=True)
    lengths = torch.tensor([len(own) for own in states], device=padded.device)
    absent = torch.arange(padded.shape[1], device=padded.device)[None, :] >= lengths[:, None]
    seen = heads["among"](padded, src_key_padding_mask=absent)
    questions = seen[torch.arange(len(states), device=padded.device), lengths - 1]
    return heads["roles"](together) + heads["rivals"](seen[~absent]), heads["present"](questions)[:, 0]


@cache
def row_reader() -> RowReader:
    """The reader that comes with finray, loaded once per process."""
    return RowReader()

"""What is computed from the cells of a reading, as a program of finray's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from finray.core.plan import Kind, Unit
from finray.question.arithmetic import ProgramError, evaluate

Operation = Literal[
    "value", "difference", "growth", "share", "ratio", "sum", "average", "max", "min", "which_max", "which_min"
]
OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)
LISTED: Final = frozenset({"sum", "average", "max", "min", "which_max", "which_min"})
"""Operations over two or more cells in any order; the others take one cell, or two in order."""
NAMING: Final = frozenset({"which_max", "which_min"})
"""Operations whose answer is the name of a row, column or period."""


@dataclass(frozen=True, slots=True)
class Reading:
    """``operation`` over ``cells``, numbers of those of a shortlist in the order of the operation."""

    operation: Operation
    cells: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``write`` makes the program from operand names; ``unit`` is that of its value, None for that of the operands."""

    kind: Kind
    write: Callable[[Sequence[str]], str]
    unit: Unit | None = None


def _called(function: str) -> Callable[[Sequence[str]], str]:
    return lambda names: f"{function}({', '.join(names)})"


ARITHMETIC: Final[Mapping[Operation, Arithmetic]] = {
    "value": Arithmetic("value", lambda names: names[0]),
    "difference": Arithmetic("difference", lambda names: f"{names[0]} - {names[1]}"),
    "growth": Arithmetic("growth", lambda names: f"growth({names[1]}, {names[0]})", "percent"),
    "share": Arithmetic("value", lambda names: f"abs({names[0]} / {names[1]})", "percent"),
    "ratio": Arithmetic("value", lambda names: f"abs({names[0]} / {names[1]})", "ratio"),
    "sum": Arithmetic("total", _called("sum")),
    "average": Arithmetic("average", _called("mean")),
    "max": Arithmetic("value", _called("max")),
    "min": Arithmetic("value", _called("min")),
    "which_max": Arithmetic("which", _called("max")),
    "which_min": Arithmetic("which", _called("min")),
}


def result(operation: Operation, values: Sequence[float]) -> float | None:
    """The value of ``operation`` over ``values`` in base units; None if it has none (a division by zero)."""
    names = [f"x{number}" for number in range(len(values))]
    try:
        return evaluate(ARITHMETIC[operation].write(names), dict(zip(names, values, strict=True)))
    except ProgramError:
        return None

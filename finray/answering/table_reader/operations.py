"""The operations of readings, as programs of finray's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from finray.core.plan import Kind, Unit
from finray.question.arithmetic import ProgramError, evaluate

Operation = Literal[
    "value", "difference", "growth", "share", "ratio", "sum", "average", "max", "min", "which_max", "which_min"
]
"""One operation on cells of tables."""
OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)
"""The first that the row model names, in its order."""
LISTED: Final = frozenset({"sum", "average", "max", "min", "which_max", "which_min"})
"""Operations over two or more cells in any order; the others take one cell, or two in order."""
NAMING: Final = frozenset({"which_max", "which_min"})
"""Operations whose answer is the name of a row, column or period."""


@dataclass(frozen=True, slots=True)
class Reading:
    """``operation`` over ``cells``: their numbers in a shortlist, in the order that the operation takes them."""

    operation: Operation
    cells: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Roles:
    """Places among a reading's cells: a cell of the ``first`` operand's row (a part, or the only row) and of the
    ``second`` one's (a whole); the cells that are ``summed`` or ranked; the later and the earlier of two
    ``periods``."""

    first: int | None = None
    second: int | None = None
    summed: tuple[int, ...] = ()
    periods: tuple[int, int] | None = None


def roles_of(operation: Operation, size: int, *, several: bool) -> Roles:
    """The roles of ``size`` cells, of ``several`` rows or of one."""
    if operation in LISTED:
        return Roles(summed=tuple(range(size))) if several else Roles(first=0)
    return Roles(first=0, second=1 if size == 2 and several else None, periods=(0, 1) if size == 2 else None)


def is_pair(operation: Operation, size: int) -> bool:
    """Whether ``operation`` takes ``size`` cells as two in order."""
    return size == 2 and operation not in LISTED


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``write`` makes the program from operand names; ``unit`` is that of its value, None for the operands' own."""

    kind: Kind
    write: Callable[[Sequence[str]], str]
    unit: Unit | None = None


def _called(function: str) -> Callable[[Sequence[str]], str]:
    return lambda names: f"{function}({', '.join(names)})"


def _quotient(names: Sequence[str]) -> str:
    return f"abs({names[0]} / {names[1]})"


ARITHMETIC: Final[Mapping[Operation, Arithmetic]] = {
    "value": Arithmetic("value", lambda names: names[0]),
    "difference": Arithmetic("difference", lambda names: f"{names[0]} - {names[1]}"),
    "growth": Arithmetic("growth", lambda names: f"growth({names[1]}, {names[0]})", "percent"),
    "share": Arithmetic("value", _quotient, "percent"),
    "ratio": Arithmetic("value", _quotient, "ratio"),
    "sum": Arithmetic("total", _called("sum")),
    "average": Arithmetic("average", _called("mean")),
    "max": Arithmetic("value", _called("max")),
    "min": Arithmetic("value", _called("min")),
    "which_max": Arithmetic("which", _called("max")),
    "which_min": Arithmetic("which", _called("min")),
}


def result(operation: Operation, values: Sequence[float]) -> float | None:
    """The value of ``operation`` over ``values`` in base units; None without one (division by zero)."""
    names = [f"x{number}" for number in range(len(values))]
    try:
        return evaluate(ARITHMETIC[operation].write(names), dict(zip(names, values, strict=True)))
    except ProgramError:
        return None

"""The operations of readings, as programs of finray's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from finray.core.plan import Kind, Unit
from finray.question.arithmetic import ProgramError, evaluate

Simple = Literal[
    "value", "difference", "growth", "share", "ratio", "sum", "average", "max", "min", "which_max", "which_min"
]
"""One operation on cells of tables."""
Composed = Literal[
    "share_change", "share_average", "sum_share", "sum_ratio", "part_share", "rest_share", "sum_change", "gap_change",
    "sum_growth", "gap_growth", "net", "sum_less", "product", "change_share",
]  # fmt: skip
"""Operations on sums, differences, shares and products of rows."""
Operation = Simple | Composed
COMPOSED: Final[tuple[Composed, ...]] = get_args(Composed)
OPERATIONS: Final[tuple[Operation, ...]] = (*get_args(Simple), *COMPOSED)
"""Those that the row model names, in its order."""
OF_SUMS: Final = frozenset({"sum_change", "sum_growth"})
WITH_SUM: Final = frozenset({"sum_share", "sum_ratio", "sum_less"})
OF_TWO_PERIODS: Final = frozenset({"share_change", "gap_change", "gap_growth", "change_share"})
"""Composed operations on sums of two periods; on a sum and another row; on two rows in two periods."""
LISTED: Final = frozenset({"sum", "average", "max", "min", "which_max", "which_min"})
"""Operations over two or more cells in any order; the other simple ones take one cell, or two in order."""
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
    ``second`` one's (a whole); the cells that are ``summed``, deducted together or ranked; one cell of the later and
    one of the earlier of two ``periods``."""

    first: int | None = None
    second: int | None = None
    summed: tuple[int, ...] = ()
    periods: tuple[int, int] | None = None


def roles_of(operation: Operation, size: int, *, several: bool) -> Roles:
    """The roles of ``size`` cells, of ``several`` rows or of one."""
    if operation in LISTED:
        return Roles(summed=tuple(range(size))) if several else Roles(first=0)
    if operation in OF_SUMS:
        return Roles(summed=tuple(range(size // 2)), periods=(0, size // 2))
    if operation in WITH_SUM:
        return Roles(second=size - 1, summed=tuple(range(size - 1)))
    if operation == "part_share":
        return Roles(first=0, summed=tuple(range(size)))
    if operation == "net":
        return Roles(first=0, summed=tuple(range(1, size)))
    if operation in OF_TWO_PERIODS:
        return Roles(first=0, second=1, periods=(0, 2))
    if operation in COMPOSED:
        return Roles(first=0, second=1)
    return Roles(first=0, second=1 if size == 2 and several else None, periods=(0, 1) if size == 2 else None)


def is_pair(operation: Operation, size: int) -> bool:
    """Whether ``operation`` is a simple one that takes ``size`` cells as two in order."""
    return size == 2 and operation not in LISTED and operation not in COMPOSED


def added_places(operation: Operation, size: int) -> range:
    """The places among ``size`` cells whose figures are added up."""
    if operation == "sum" or operation in OF_SUMS:
        return range(size)
    return range(size - 1) if operation in WITH_SUM else range(0)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``write`` makes the program from operand names; ``unit`` is that of its value, None for the operands' own."""

    kind: Kind
    write: Callable[[Sequence[str]], str]
    unit: Unit | None = None


def _called(function: str) -> Callable[[Sequence[str]], str]:
    return lambda names: f"{function}({', '.join(names)})"


def _later_and_earlier(names: Sequence[str], sign: str) -> tuple[str, str]:
    """Programs for the later and for the earlier period, whose operands are the two halves of ``names``."""
    half = len(names) // 2
    return f"({sign.join(names[:half])})", f"({sign.join(names[half:])})"


def _growth(names: Sequence[str], sign: str) -> str:
    later, earlier = _later_and_earlier(names, sign)
    return f"growth({earlier}, {later})"


def _share(part: str, whole: str) -> str:
    return f"abs({part} / {whole})"


def _share_of_sum(names: Sequence[str]) -> str:
    return _share(f"({' + '.join(names[:-1])})", names[-1])


ARITHMETIC: Final[Mapping[Operation, Arithmetic]] = {
    "value": Arithmetic("value", lambda names: names[0]),
    "difference": Arithmetic("difference", lambda names: f"{names[0]} - {names[1]}"),
    "growth": Arithmetic("growth", lambda names: f"growth({names[1]}, {names[0]})", "percent"),
    "share": Arithmetic("value", lambda names: _share(names[0], names[1]), "percent"),
    "ratio": Arithmetic("value", lambda names: _share(names[0], names[1]), "ratio"),
    "sum": Arithmetic("total", _called("sum")),
    "average": Arithmetic("average", _called("mean")),
    "max": Arithmetic("value", _called("max")),
    "min": Arithmetic("value", _called("min")),
    "which_max": Arithmetic("which", _called("max")),
    "which_min": Arithmetic("which", _called("min")),
    "share_change": Arithmetic(
        "difference", lambda names: f"{_share(names[0], names[1])} - {_share(names[2], names[3])}", "percent"
    ),
    "sum_share": Arithmetic("value", _share_of_sum, "percent"),
    "sum_ratio": Arithmetic("value", _share_of_sum, "ratio"),
    "part_share": Arithmetic("value", lambda names: _share(names[0], f"({' + '.join(names)})"), "percent"),
    "rest_share": Arithmetic("value", lambda names: _share(f"({names[1]} - {names[0]})", names[1]), "percent"),
    "sum_change": Arithmetic("difference", lambda names: " - ".join(_later_and_earlier(names, " + "))),
    "gap_change": Arithmetic("difference", lambda names: " - ".join(_later_and_earlier(names, " - "))),
    "sum_growth": Arithmetic("growth", lambda names: _growth(names, " + "), "percent"),
    "gap_growth": Arithmetic("growth", lambda names: _growth(names, " - "), "percent"),
    "share_average": Arithmetic(
        "average",
        lambda names: f"mean({', '.join(_share(*names[at : at + 2]) for at in range(0, len(names), 2))})",
        "percent",
    ),
    "net": Arithmetic("value", " - ".join),
    "sum_less": Arithmetic("value", lambda names: f"{' + '.join(names[:-1])} - {names[-1]}"),
    "product": Arithmetic("value", " * ".join, "USD"),
    "change_share": Arithmetic(
        "value", lambda names: f"({names[0]} - {names[2]}) / ({names[1]} - {names[3]})", "percent"
    ),
}
"""Operands of composed operations, in order: a part and the whole, then the same of the earlier period or of the other
periods (``share_average``); the parts, then the whole or what is deducted; a part, then the other parts; the rows of
the later period, then those of the earlier one; an amount, then what is deducted from it."""


def result(operation: Operation, values: Sequence[float]) -> float | None:
    """The value of ``operation`` over ``values`` in base units; None without one (division by zero)."""
    names = [f"x{number}" for number in range(len(values))]
    try:
        return evaluate(ARITHMETIC[operation].write(names), dict(zip(names, values, strict=True)))
    except ProgramError:
        return None

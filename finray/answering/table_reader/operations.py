"""What is computed from the cells of a reading, as a program of finray's own arithmetic."""

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
LISTED: Final = frozenset({"sum", "average", "max", "min", "which_max", "which_min"})
"""Operations over two or more cells in any order; the other simple ones take one cell, or two in order."""
NAMING: Final = frozenset({"which_max", "which_min"})
"""Operations whose answer is the name of a row, column or period."""


@dataclass(frozen=True, slots=True)
class Reading:
    """``operation`` over ``cells``, numbers of those of a shortlist in the order of the operation."""

    operation: Operation
    cells: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Roles:
    """Places in a reading's cells: one of the ``first`` operand's row (a part, the only one) and of the ``second``
    one's (a whole), those of rows that are ``summed``, deducted together or ranked, and one cell of the later and one
    of the earlier of two ``periods``."""

    first: int | None = None
    second: int | None = None
    summed: tuple[int, ...] = ()
    periods: tuple[int, int] | None = None


def roles_of(operation: Operation, size: int, *, several: bool) -> Roles:
    """Of ``size`` cells, which are of ``several`` rows."""
    if operation in LISTED:
        return Roles(summed=tuple(range(size))) if several else Roles(first=0)
    if operation in ("sum_change", "sum_growth"):
        return Roles(summed=tuple(range(size // 2)), periods=(0, size // 2))
    if operation in ("sum_share", "sum_ratio", "sum_less"):
        return Roles(second=size - 1, summed=tuple(range(size - 1)))
    if operation == "part_share":
        return Roles(first=0, summed=tuple(range(size)))
    if operation == "net":
        return Roles(first=0, summed=tuple(range(1, size)))
    if operation in ("share_change", "gap_change", "gap_growth", "change_share"):
        return Roles(first=0, second=1, periods=(0, 2))
    if operation in COMPOSED:
        return Roles(first=0, second=1)
    return Roles(first=0, second=1 if size == 2 and several else None, periods=(0, 1) if size == 2 else None)


def added_places(operation: Operation, size: int) -> range:
    """Of ``size`` cells, those whose figures are added up."""
    if operation in ("sum", "sum_change", "sum_growth"):
        return range(size)
    return range(size - 1) if operation in ("sum_share", "sum_ratio", "sum_less") else range(0)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``write`` makes the program from operand names; ``unit`` is that of its value, None for that of the operands."""

    kind: Kind
    write: Callable[[Sequence[str]], str]
    unit: Unit | None = None


def _called(function: str) -> Callable[[Sequence[str]], str]:
    return lambda names: f"{function}({', '.join(names)})"


def _halves(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The operands of the later and of the earlier period."""
    return names[: len(names) // 2], names[len(names) // 2 :]


def _sums(names: Sequence[str]) -> tuple[str, str]:
    later, earlier = _halves(names)
    return f"({' + '.join(later)})", f"({' + '.join(earlier)})"


def _gaps(names: Sequence[str]) -> tuple[str, str]:
    later, earlier = _halves(names)
    return f"({' - '.join(later)})", f"({' - '.join(earlier)})"


def _share(part: str, whole: str) -> str:
    return f"abs({part} / {whole})"


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
    "sum_share": Arithmetic("value", lambda names: _share(f"({' + '.join(names[:-1])})", names[-1]), "percent"),
    "sum_ratio": Arithmetic("value", lambda names: _share(f"({' + '.join(names[:-1])})", names[-1]), "ratio"),
    "part_share": Arithmetic("value", lambda names: _share(names[0], f"({' + '.join(names)})"), "percent"),
    "rest_share": Arithmetic("value", lambda names: _share(f"({names[1]} - {names[0]})", names[1]), "percent"),
    "sum_change": Arithmetic("difference", lambda names: " - ".join(_sums(names))),
    "gap_change": Arithmetic("difference", lambda names: " - ".join(_gaps(names))),
    "sum_growth": Arithmetic("growth", lambda names: f"growth({', '.join(reversed(_sums(names)))})", "percent"),
    "gap_growth": Arithmetic("growth", lambda names: f"growth({', '.join(reversed(_gaps(names)))})", "percent"),
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
"""The cells of composed operations: part, whole, then the same of the earlier period, or of others (``share_average``);
the parts, then the whole or what is deducted; a part, then the others; the rows of the later period, then those of the
earlier one; what is left of, then what is deducted."""


def result(operation: Operation, values: Sequence[float]) -> float | None:
    """The value of ``operation`` over ``values`` in base units; None if it has none (a division by zero)."""
    names = [f"x{number}" for number in range(len(values))]
    try:
        return evaluate(ARITHMETIC[operation].write(names), dict(zip(names, values, strict=True)))
    except ProgramError:
        return None

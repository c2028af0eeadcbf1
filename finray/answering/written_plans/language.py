"""The language of plans: expressions over ids of cells, such as ``share(r4c1, sum(r2c1, r3c1))``.

    plan       = "none" | expression
    expression = cell | number | operation "(" expression { "," expression } ")"
    cell       = "r" digits "c" digits
    operation  = one of OPERATIONS

The first argument of an operation on two is what is asked for: the later figure, the part, the numerator. ``none`` says
that the rows do not answer. docs/plans.md describes each operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from finray.core.errors import FinrayError
from finray.core.plan import Kind, Unit

MAX_CHARACTERS: Final = 240
"""Longest plan; one over ten cells has some 100 characters."""
MAX_DEPTH: Final = 4
NONE: Final = "none"
_TOKEN = re.compile(r"\s*(?:(r\d{1,3}c\d{1,3})|(-?\d{1,9}(?:\.\d{1,6})?)|([a-z_]+)|([(),]))")


class PlanError(FinrayError):
    """A text is not a plan, or names a cell that is not there."""


@dataclass(frozen=True, slots=True, order=True)
class CellId:
    """``column`` counts the cells of the sheet's row ``row``; both count from 1."""

    row: int
    column: int

    def __str__(self) -> str:
        return f"r{self.row}c{self.column}"


@dataclass(frozen=True, slots=True)
class Number:
    value: float

    def __str__(self) -> str:
        return f"{self.value:g}"


@dataclass(frozen=True, slots=True)
class Call:
    operation: str
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        return f"{self.operation}({', '.join(map(str, self.arguments))})"


Expression: TypeAlias = CellId | Number | Call


@dataclass(frozen=True, slots=True)
class Operation:
    """``program`` is finray's arithmetic with ``{0}`` and ``{1}`` for the first two arguments and ``{all}`` for all.
    ``unit`` is that of the value, None for the arguments' own; ``least`` and ``most`` count the arguments."""

    program: str
    kind: Kind
    unit: Unit | None = None
    least: int = 2
    most: int = 2


_MANY: Final = 12
OPERATIONS: Final[Mapping[str, Operation]] = {
    "difference": Operation("({0} - {1})", "difference"),
    "growth": Operation("growth({1}, {0})", "growth", "percent"),
    "share": Operation("abs({0} / {1})", "value", "percent"),
    "ratio": Operation("({0} / {1})", "value", "ratio"),
    "product": Operation("({0} * {1})", "value"),
    "sum": Operation("sum({all})", "total", most=_MANY),
    "average": Operation("mean({all})", "average", most=_MANY),
    "max": Operation("max({all})", "value", most=_MANY),
    "min": Operation("min({all})", "value", most=_MANY),
    "which_max": Operation("max({all})", "which", most=_MANY),
    "which_min": Operation("min({all})", "which", most=_MANY),
    "cagr": Operation("cagr({1}, {0}, {2})", "cagr", "percent", 3, 3),
    "more": Operation("({0} - {1})", "sign"),
}
"""``more`` asks whether the first is the larger one."""
NAMING: Final = frozenset({"which_max", "which_min"})
MIXING: Final = frozenset({"ratio", "product"})
"""Operations whose arguments may have different units: sales a store, a price times shares."""


def parse(text: str) -> Expression | None:
    """The plan ``text``; None for "none". Raises PlanError."""
    if len(text) > MAX_CHARACTERS:
        raise PlanError(f"a plan of {len(text)} characters; at most {MAX_CHARACTERS}")
    if text.strip() == NONE:
        return None
    tokens = _tokens(text)
    expression, rest = _expression(tokens, 0, MAX_DEPTH, text)
    if rest != len(tokens):
        raise PlanError(f"not one plan: {text!r} goes on with {tokens[rest]!r}")
    return expression


def grammar(columns: Sequence[int]) -> str:
    """The plans over a sheet whose rows have so many ``columns`` each, as GBNF for llama.cpp; a plan begins with the
    space after "Plan:"."""
    cells = " | ".join(f'"r{row}c" [1-{most}]' for row, most in enumerate(columns, start=1) if most)
    calls = [f'"{name}(" expr (", " expr){{{each.least - 1},{each.most - 1}}} ")"' for name, each in OPERATIONS.items()]
    return "\n".join(
        (
            f'root ::= " " ("{NONE}" | expr)',
            "expr ::= cell | number | call",
            f"call ::= {' | '.join(calls)}",
            f"cell ::= {cells}",
            'number ::= "-"? [0-9]{1,9} ("." [0-9]{1,6})?',
        )
    )


def _tokens(text: str) -> Sequence[str]:
    found, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise PlanError(f"not a plan: {text!r}, character {at + 1}")
        found.append(match[0].strip())
        at = match.end()
    return found


def _expression(tokens: Sequence[str], at: int, depth: int, text: str) -> tuple[Expression, int]:
    if at >= len(tokens) or depth == 0:
        raise PlanError(f"{text!r} ends early" if depth else f"{text!r} nests more than {MAX_DEPTH} operations")
    token = tokens[at]
    if re.fullmatch(r"r\d+c\d+", token):
        row, column = token[1:].split("c")
        return CellId(int(row), int(column)), at + 1
    if re.fullmatch(r"-?\d.*", token):
        return Number(float(token)), at + 1
    operation = OPERATIONS.get(token)
    if operation is None or tokens[at + 1 : at + 2] != ["("]:
        raise PlanError(f"{token!r} in {text!r} is no cell, number or operation; operations: {', '.join(OPERATIONS)}")
    arguments: list[Expression] = []
    at += 1
    while tokens[at : at + 1] in (["("], [","]):
        argument, at = _expression(tokens, at + 1, depth - 1, text)
        arguments.append(argument)
    if tokens[at : at + 1] != [")"] or not operation.least <= len(arguments) <= operation.most:
        raise PlanError(f"{token} in {text!r} takes {operation.least} to {operation.most} arguments in parentheses")
    return Call(token, tuple(arguments)), at + 1


def cells_of(expression: Expression) -> tuple[CellId, ...]:
    """The cells in reading order, each once."""
    return tuple(dict.fromkeys(_cells(expression)))


def _cells(expression: Expression) -> Iterator[CellId]:
    if isinstance(expression, CellId):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _cells(argument)


def program_of(expression: Expression, names: Mapping[CellId, str]) -> str:
    """``expression`` in finray's arithmetic (``finray.question.arithmetic``); ``names`` are those of the cells."""
    if isinstance(expression, CellId):
        return names[expression]
    if isinstance(expression, Number):
        return f"({expression})" if expression.value < 0 else str(expression)
    written = [program_of(argument, names) for argument in expression.arguments]
    return OPERATIONS[expression.operation].program.format(*written, all=", ".join(written))


def unit_of(expression: Expression, units: Mapping[CellId, Unit]) -> Unit:
    """The unit of the value, from the ``units`` of the cells; "ratio" for a number alone."""
    if isinstance(expression, CellId):
        return units[expression]
    if isinstance(expression, Number):
        return "ratio"
    operation = OPERATIONS[expression.operation]
    if operation.unit is not None:
        return operation.unit
    own = [unit_of(argument, units) for argument in expression.arguments]
    if expression.operation == "product":
        return _product(own[0], own[1])
    return next((unit for unit in own if unit != "ratio"), "ratio")


def _product(one: Unit, other: Unit) -> Unit:
    """A price times shares is money; a percentage or a number of something is only a factor."""
    if {one, other} == {"USD/share", "shares"}:
        return "USD"
    return other if one in ("percent", "ratio") else one

"""Arithmetic over named operands: parse, list the operands, evaluate. No ``eval``, no attributes, no imports.

The language has numbers, names, ``+ - * /``, unary minus, and calls of the functions below. formulas.toml and the
programs of answers are written in it.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

from finray.core.errors import FinrayError

MAX_CHARACTERS = 4_000
MAX_DEPTH = 60
"""Deepest nesting of operations; ``a + b + c`` nests two. Keeps recursion far below Python's own limit."""
MAX_LOOK_BACK = 2
"""Deepest nesting of PERIOD_FUNCTIONS: each repeats its argument for two years, so n levels repeat it 2^n times."""
PERIOD_FUNCTIONS = ("avg", "prior", "delta")
"""Functions of formulas that look one year back; :func:`finray.question.measures.formulas.at_period` expands them."""


class ProgramError(FinrayError):
    """An expression is not in the language, or has no value (division by zero)."""


_FUNCTIONS: dict[str, Callable[..., float]] = {
    "mean": lambda *values: sum(values) / len(values),
    "sum": lambda *values: sum(values),
    "min": min,
    "max": max,
    "abs": abs,
    "growth": lambda old, new: (new - old) / abs(old),
    "cagr": lambda old, new, years: (new / old) ** (1 / years) - 1,
    "difference": lambda a, b: (a - b) / abs(b),
}
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
RESERVED_NAMES = frozenset([*_FUNCTIONS, *PERIOD_FUNCTIONS])
"""Names that no operand may have."""


def parse(expression: str) -> ast.expr:
    """Parse ``expression`` and check that it is in the language. Raises ProgramError."""
    if len(expression) > MAX_CHARACTERS:
        raise ProgramError(f"expression of {len(expression)} characters; at most {MAX_CHARACTERS}")
    try:
        tree = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ProgramError(f"not an expression: {expression[:80]!r}") from error
    _check(tree, expression, MAX_DEPTH, MAX_LOOK_BACK)
    return tree


def names(expression: str) -> tuple[str, ...]:
    """Operand names of ``expression`` in reading order, each once. Raises ProgramError."""
    tree = parse(expression)
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions]
    return tuple(dict.fromkeys(node.id for node in sorted(found, key=lambda node: (node.lineno, node.col_offset))))


def substituted(expression: str, by_name: Mapping[str, str]) -> str:
    """``expression`` with each name that is a key of ``by_name`` replaced by its value."""
    return re.sub(r"\w+", lambda word: by_name.get(word[0], word[0]), expression)


def evaluate(expression: str, operands: Mapping[str, float]) -> float:
    """The value of ``expression``. Raises ProgramError for a missing operand or a division by zero."""
    try:
        result = _value(parse(expression), operands)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
        raise ProgramError(f"{expression!r} has no value: {error}") from error
    if isinstance(result, complex) or not math.isfinite(result):
        raise ProgramError(f"{expression!r} has no real, finite value")
    return result


def _check(node: ast.expr, expression: str, depth: int, look_back: int) -> None:
    """Raise ProgramError for a node outside the language, or one nested more than ``depth`` levels deep.

    Run it before anything else walks the tree: other walks recurse to its full depth.
    """
    if depth < 0:
        raise ProgramError(f"more than {MAX_DEPTH} nested operations in {expression[:80]!r}")
    if look_back < 0:
        raise ProgramError(f"more than {MAX_LOOK_BACK} nested {', '.join(PERIOD_FUNCTIONS)} in {expression[:80]!r}")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return
        case ast.Name():
            return
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, expression, depth - 1, look_back)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left, expression, depth - 1, look_back)
            _check(right, expression, depth - 1, look_back)
        case ast.Call(func=ast.Name(id=function), args=[_, *_] as arguments, keywords=[]) if function in _FUNCTIONS:
            for argument in arguments:
                _check(argument, expression, depth - 1, look_back)
        case ast.Call(func=ast.Name(id=function), args=[argument], keywords=[]) if function in PERIOD_FUNCTIONS:
            _check(argument, expression, depth - 1, look_back - 1)
        case _:
            # The source text: ``ast.unparse`` would recurse to the full depth of the tree.
            found = (ast.get_source_segment(expression, node) or type(node).__name__)[:60]
            raise ProgramError(f"{found!r} is not allowed in {expression[:80]!r}")


def _value(node: ast.expr, operands: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            if name not in operands:
                raise ProgramError(f"operand {name!r} has no value")
            return operands[name]
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, operands)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, operands), _value(right, operands))
        case ast.Call(func=ast.Name(id=function), args=arguments) if function in _FUNCTIONS:
            return _FUNCTIONS[function](*(_value(argument, operands) for argument in arguments))
    raise ProgramError(f"a {type(node).__name__} cannot be evaluated; write {', '.join(PERIOD_FUNCTIONS)} out first")

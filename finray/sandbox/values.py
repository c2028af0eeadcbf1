"""The values of a program and the operations on them, each within its limits.

A value is None, a bool, an int of at most some hundred digits, a finite float, a short text, or a list, tuple or dict
of values. Every operation pays for the elements that it creates or visits *before* it does, so no short expression can
produce a huge value.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from finray.sandbox import limits, provenance
from finray.sandbox.limits import Fault

Value = Any
"""None | bool | int | float | str | list | tuple | dict; a recursive union would not help mypy."""


class Budget:
    """The steps that a program has left."""

    def __init__(self) -> None:
        self.left = limits.STEPS

    def spend(self, steps: int) -> None:
        """Raises Fault if the budget is exhausted."""
        self.left -= steps
        if self.left < 0:
            raise Fault("limit", f"the program takes more than {limits.STEPS:,} steps")

    def weigh(self, value: Value, depth: int = 0) -> Value:
        """``value``, after paying for its elements at every depth. A list that contains itself is too deep."""
        if isinstance(value, list | tuple | dict):
            if depth >= limits.VALUE_DEPTH:
                raise Fault("limit", f"lists nested more than {limits.VALUE_DEPTH} deep")
            self.spend(len(value) + 1)
            for element in value.values() if isinstance(value, dict) else value:
                if isinstance(element, list | tuple | dict):
                    self.weigh(element, depth + 1)
        elif isinstance(value, str):
            self.spend(len(value) // 16)
        return value


def checked(value: Value) -> Value:
    """``value``, the result of an operation. Raises Fault if it is too large, infinite or complex."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Fault("failed", "the result is not a finite number")
    elif isinstance(value, int):
        if value.bit_length() > limits.INTEGER_BITS:
            raise Fault("limit", "a number of more than 100 digits")
    elif isinstance(value, complex):
        raise Fault("failed", "the result is not a real number")
    elif isinstance(value, str) and len(value) > limits.STRING_CHARACTERS:
        raise Fault("limit", f"a text of more than {limits.STRING_CHARACTERS:,} characters")
    return value


def is_number(value: Value) -> bool:
    return isinstance(value, int | float)


def number(value: Value) -> Value:
    """``value``. Raises TypeError if it is not a number."""
    if not is_number(value):
        raise TypeError(f"a number is wanted, not {type(value).__name__}")
    return value


def power(base: Value, exponent: Value) -> Value:
    """``base ** exponent``. Raises Fault before a huge integer is computed."""
    if not (is_number(base) and is_number(exponent)):
        raise TypeError(f"cannot raise {_kind(base)} to {_kind(exponent)}")
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent < 0:
            base = float(base)
        elif abs(base) > 1 and exponent * (base.bit_length() - 1) > limits.INTEGER_BITS:
            raise Fault("limit", "a power of more than 100 digits")
    return base**exponent


_ARITHMETIC: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: power,
}

_SYMBOLS = dict(zip(_ARITHMETIC, ("+", "-", "*", "/", "//", "%", "**"), strict=True))


def binary(budget: Budget, kind: type[ast.operator], left: Value, right: Value) -> Value:
    """The result of an arithmetic operator; ``+`` also joins texts and lists, ``*`` also repeats a list."""
    if is_number(left) and is_number(right):
        return provenance.of_operation(kind, left, right, checked(_ARITHMETIC[kind](left, right)))
    if kind is ast.Add and type(left) is type(right) and isinstance(left, list | tuple):
        budget.spend(len(left) + len(right))
        return budget.weigh(left + right)
    if kind is ast.Add and isinstance(left, str) and isinstance(right, str):
        budget.spend((len(left) + len(right)) // 16)
        return checked(left + right)
    if kind is ast.Mult:
        values, times = (left, right) if isinstance(left, list) else (right, left)
        if isinstance(values, list) and isinstance(times, int):
            budget.spend(len(values) * max(0, times))
            return budget.weigh(values * times)
    raise TypeError(f"`{_SYMBOLS[kind]}` does not work on {_kind(left)} and {_kind(right)}")


_COMPARISONS: dict[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


def compare(budget: Budget, kind: type[ast.cmpop], left: Value, right: Value) -> bool:
    budget.weigh(left)
    budget.weigh(right)
    return _COMPARISONS[kind](left, right)


def dict_key(key: Value) -> Value:
    """``key``. Raises TypeError if it is not valid in a dict."""
    if not isinstance(key, int | float | str):
        raise TypeError(f"the key of a dict is a number or a text, not {_kind(key)}")
    return key


def element(container: Value, index: Value) -> Value:
    if not isinstance(container, list | tuple | dict):
        raise TypeError(f"{_kind(container)} has no elements")
    return container[index]


def elements(budget: Budget, value: Value) -> list[Value]:
    """The elements that a loop or function visits, as a copy that later changes of ``value`` do not affect."""
    if not isinstance(value, list | tuple | dict):
        raise TypeError(f"{_kind(value)} is not a list")
    budget.spend(len(value))
    return list(value)


def _kind(value: Value) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"

# ruff: noqa: ARG001  # every function takes the budget, whether it needs it or not
"""The functions that a program may call, by name. Each takes the budget and values, and returns a value.

Those with a result much larger than their arguments (``range``, ``sum`` of lists, ``round`` to a million places) are
guarded; those of unbounded cost (``factorial``, ``comb``) are missing.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from finray.sandbox import limits, provenance
from finray.sandbox.limits import Fault
from finray.sandbox.values import Budget, Value, binary, checked, elements, number, power


def _range(budget: Budget, *bounds: Value) -> Value:
    if not all(isinstance(bound, int) for bound in bounds):
        raise TypeError("range takes whole numbers")
    values = range(*bounds)
    # len() fails for ranges longer than a machine word.
    count = max(0, (values.stop - values.start + values.step - (1 if values.step > 0 else -1)) // values.step)
    budget.spend(count)
    return list(values)


def _extreme(pick: Callable[[list[Value]], Value]) -> Callable[..., Value]:
    def of(budget: Budget, *values: Value) -> Value:
        listed = elements(budget, values[0]) if len(values) == 1 else list(values)
        budget.weigh(listed)
        return pick(listed)

    return of


def _folded(budget: Budget, kind: type[ast.operator], values: Value, start: Value) -> Value:
    total = number(start)
    for value in elements(budget, values):
        total = binary(budget, kind, total, number(value))
    return total


def _sorted(budget: Budget, values: Value, *, reverse: Value = False) -> Value:
    listed = elements(budget, values)
    budget.weigh(listed)
    budget.spend(len(listed) * len(listed).bit_length())
    return sorted(listed, reverse=bool(reverse))


def _round(budget: Budget, value: Value, places: Value = None) -> Value:
    if places is None:
        return round(number(value))
    if not isinstance(places, int) or abs(places) > 100:
        raise TypeError("round takes at most 100 places")
    return round(number(value), places)


def _parsed(kind: type[int] | type[float]) -> Callable[..., Value]:
    def of(budget: Budget, value: Value) -> Value:
        if isinstance(value, str) and len(value) > 100:
            raise Fault("limit", "a number of more than 100 digits")
        if not isinstance(value, str):
            number(value)
        return kind(value)

    return of


def _zip(budget: Budget, *lists: Value) -> Value:
    listed = [elements(budget, values) for values in lists]
    return budget.weigh(list(zip(*listed, strict=False)))


def _enumerate(budget: Budget, values: Value, start: Value = 0) -> Value:
    if not isinstance(start, int):
        raise TypeError("enumerate starts at a whole number")
    return budget.weigh(list(enumerate(elements(budget, values), start)))


def _of_numbers(function: Callable[..., Value]) -> Callable[..., Value]:
    def of(budget: Budget, *values: Value) -> Value:
        return function(*(number(value) for value in values))

    return of


_MATH = ["ceil", "exp", "expm1", "fabs", "floor", "isclose", "log", "log10", "log1p", "log2", "sqrt", "trunc"]
_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "abs": _of_numbers(abs),
    "enumerate": _enumerate,
    "float": _parsed(float),
    "int": _parsed(int),
    "len": lambda _, values: len(values),
    "list": lambda budget, values=(): budget.weigh(elements(budget, values)),
    "max": _extreme(max),
    "min": _extreme(min),
    "pow": lambda _, base, exponent: power(base, exponent),
    "prod": lambda budget, values, start=1: _folded(budget, ast.Mult, values, start),
    "range": _range,
    "round": _round,
    "sorted": _sorted,
    "sum": lambda budget, values, start=0: _folded(budget, ast.Add, values, start),
    "fsum": lambda budget, values, start=0: _folded(budget, ast.Add, values, start),
    "zip": _zip,
    **{name: _of_numbers(getattr(math, name)) for name in _MATH},
}
_KEYWORDS = {"sorted": {"reverse"}, "enumerate": {"start"}, "sum": {"start"}, "round": {"ndigits"}}
NAMES = frozenset(_FUNCTIONS)
CONSTANTS = {"pi": math.pi, "e": math.e}


def call(budget: Budget, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of a function. Raises Fault, TypeError, ValueError, ArithmeticError."""
    if unknown := keywords.keys() - _KEYWORDS.get(name, set()):
        raise TypeError(f"{name} takes no argument {min(unknown)[:40]!r}")
    if name == "round" and "ndigits" in keywords:
        arguments, keywords = [*arguments, keywords["ndigits"]], {}
    if len(arguments) > limits.TREE_NODES:
        raise Fault("limit", "too many arguments")
    budget.spend(len(arguments) + 1)
    try:
        return provenance.of_call(name, arguments, checked(_FUNCTIONS[name](budget, *arguments, **keywords)))
    except TypeError as error:
        # Python's own message for a wrong number of arguments mentions our function and its budget.
        raise TypeError(f"wrong arguments for {name}" if "positional argument" in str(error) else str(error)) from None

"""Tracks where a program's numbers come from: figures that the evidence prints, or constants of the program's author.

A figure is a number with an :class:`Origin`, and so is a number computed from it; a plain number is a constant, and
constants combine to constants. Together with a figure, a constant may be

* a scale: it multiplies or divides by a power of ten;
* a divisor or count: the number of figures that were added up (their mean), or a number of periods or halves of which
  formulas consist (2, 4, 12, 52, 365, a quarter's days), at most two of them on the way to a number;
* the 1 or 100 of a ratio (``new / old - 1``, ``100 - share``), or the 1 of a span of years (``2019 - 2017 + 1``), once;
* an exponent that is a small whole number or its reciprocal.

Elsewhere it is ``foreign``: it stands for a figure that the evidence does not print. A number's origin lists the
foreign constants that it was computed from.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

_PERIODS = (2, 3, 4, 12, 52, 360, 365, 366)
_SHARES = (365 / 4, 366 / 4, 360 / 4, 365 / 12, 366 / 12, 360 / 12, 52 / 12, 52 / 4)
"""Days and weeks of a quarter and of a month."""
_MOST_PERIODS = 2
_SMALL = 12
_MOST_FOREIGN = 10
_ONE = f"{1:.11e}".partition("e")[0]
"""The digits of every power of ten."""


class Origin(NamedTuple):
    """``foreign``: constants in the place of figures; ``terms``: how many figures were added up; ``periods``: how often
    it was multiplied or divided by a number of periods; ``ratio``: it has no unit; ``shifted``: 1 or 100 was added;
    ``empty``: it depends on no figure's value (``x / x``, ``x - x``, a count), so constants treat it as a constant."""

    foreign: tuple[float, ...] = ()
    terms: int = 1
    periods: int = 0
    ratio: bool = False
    shifted: bool = False
    empty: bool = False


FIGURE = Origin()
EMPTY = Origin(ratio=True, empty=True)


class _TracedInt(int):
    origin: Origin


class _TracedFloat(float):
    origin: Origin


def traced(number: Any, origin: Origin | None) -> Any:
    """``number`` with ``origin``; unchanged without an origin or if it is not a number."""
    if origin is None or isinstance(number, bool) or not isinstance(number, int | float):
        return number
    marked = _TracedInt(number) if isinstance(number, int) else _TracedFloat(number)
    marked.origin = origin
    return marked


def origin_of(value: Any) -> Origin | None:
    return value.origin if isinstance(value, _TracedInt | _TracedFloat) else None


def holds_figure(value: Any) -> bool:
    """Whether ``value`` is a figure or a list with one."""
    if isinstance(value, list | tuple):
        return any(origin_of(part) is not None or (isinstance(part, tuple) and holds_figure(part)) for part in value)
    return origin_of(value) is not None


def of_operation(kind: type[ast.operator], left: Any, right: Any, result: Any) -> Any:
    """``result`` of an arithmetic operation on two numbers, with its origin."""
    first, second = origin_of(left), origin_of(right)
    if first is None and second is None:
        return result
    if first is not None and second is not None:
        return traced(result, _of_figures(kind, first, second, result))
    figure, number, constant = (first, left, right) if first is not None else (second, right, left)
    assert figure is not None
    if figure.empty:
        return traced(result, _of_empty(kind, constant, result))
    if result == 0 and kind is not ast.Add:
        return traced(result, EMPTY)
    if not math.isfinite(constant):
        return traced(result, _with_foreign(figure, constant))
    return traced(result, _with_constant(kind, figure, number, constant, constant_first=first is None))


def of_call(name: str, arguments: Sequence[Any], result: Any) -> Any:
    """``result`` of a function, with its origin. Sums, products and extremes already have one."""
    if origin_of(result) is not None or not any(holds_figure(argument) for argument in arguments):
        return result
    if name == "pow":
        return of_operation(ast.Pow, arguments[0], arguments[1], result)
    if name in ("len", "max", "min", "sum", "fsum", "prod"):
        return traced(result, EMPTY)
    # The second argument of round and log does not matter.
    origin = origin_of(arguments[0])
    return traced(result, origin or _with_foreign(FIGURE, arguments[0] if _is_number(arguments[0]) else 0))


def counted(kind: type[ast.operator], before: Any, by: Any, result: Any) -> Any:
    """``result``, as a count of figures if it is ``n + 1``, once per figure."""
    origin = origin_of(before)
    counts = kind is ast.Add and type(by) is int and by == 1 and (before == 0 if origin is None else origin.empty)
    return traced(result, EMPTY) if counts else result


def capped(value: Any, figures: int) -> Any:
    """``value``, as a constant if it depends on no figure and exceeds any count of the ``figures`` and percentage."""
    origin = origin_of(value)
    if origin is None or not origin.empty or value == 0 or _is_scale(value):
        return value
    return value if abs(value) <= (figures if isinstance(value, int) else 100) else _plain(value)


def ungrounded(value: Any, deciding: Iterable[float]) -> tuple[float, ...]:
    """The constants that a program's ``value`` depends on although they are not figures; the value itself if it is one.
    ``deciding`` are the constants that figures were compared with."""
    if not _is_number(value):
        return ()
    origin = origin_of(value)
    if origin is None:
        return (_plain(value),)
    return tuple(dict.fromkeys((*origin.foreign, *deciding)))


def decides(left: Any, right: Any) -> float | None:
    """The constant that a figure is compared with, unless formulas use it."""
    first, second = origin_of(left), origin_of(right)
    if (first is None) == (second is None):
        return None
    constant = left if first is None else right
    if not _is_number(constant) or constant == 0 or _is_scale(constant) or constant in _PERIODS:
        return None
    return _plain(constant)


def _of_figures(kind: type[ast.operator], left: Origin, right: Origin, result: Any) -> Origin:
    foreign = tuple(dict.fromkeys((*left.foreign, *right.foreign)))[:_MOST_FOREIGN]
    periods = max(left.periods, right.periods)
    ratio = left.ratio and right.ratio
    if left.empty and right.empty:
        return EMPTY
    if kind in (ast.Add, ast.Sub):
        if kind is ast.Sub and result == 0 and not foreign:
            return EMPTY
        return Origin(foreign, left.terms + right.terms, periods, ratio, left.shifted or right.shifted)
    if kind in (ast.Div, ast.FloorDiv):
        if abs(result) == 1 and not foreign:
            return EMPTY
        ratio = True
    if kind is ast.Pow:
        ratio = left.ratio
    return Origin(foreign, 1, periods, ratio)


def _of_empty(kind: type[ast.operator], constant: Any, result: Any) -> Origin | None:
    scaled = kind in (ast.Mult, ast.Div) and constant != 0 and _is_scale(constant)
    return EMPTY if scaled or abs(result) in (0, 1) else None


def _with_constant(
    kind: type[ast.operator], figure: Origin, number: Any, constant: Any, *, constant_first: bool
) -> Origin:
    if kind in (ast.Add, ast.Sub):
        if constant == 0:
            return figure
        small = abs(constant) in (1, 100) and (figure.ratio or abs(number) <= abs(constant))
        small = small or (abs(constant) == 1 and isinstance(number, int) and abs(number) <= _SMALL)
        if small and not figure.shifted:
            return figure._replace(ratio=True, shifted=True)
    elif kind is ast.Mult or (kind in (ast.Div, ast.FloorDiv) and constant != 0):
        divided = kind is not ast.Mult and not constant_first
        inverse = kind is not ast.Mult and constant_first
        if divided and constant == figure.terms > 1:
            return figure._replace(terms=1)
        if constant == 0 or _is_scale(constant):
            return figure._replace(terms=1, ratio=False) if inverse else figure
        if _is_period(constant) and figure.periods < _MOST_PERIODS:
            return figure._replace(terms=1, periods=figure.periods + 1, ratio=figure.ratio and not inverse)
    elif kind is ast.Pow and not constant_first:
        if constant == 0:
            return EMPTY
        if any(abs(n) <= _SMALL and abs(n - round(n)) < 1e-9 for n in (constant, 1 / constant)):
            return figure._replace(terms=1)
    return _with_foreign(figure, constant)


def _with_foreign(figure: Origin, constant: Any) -> Origin:
    return figure._replace(foreign=tuple(dict.fromkeys((*figure.foreign, _plain(constant))))[:_MOST_FOREIGN])


def _is_scale(constant: Any) -> bool:
    return f"{abs(constant):.11e}".partition("e")[0] == _ONE


def _is_period(constant: Any) -> bool:
    """One of the periods or its reciprocal, also in percent."""
    sizes = (abs(constant), abs(constant) / 100)
    return any(math.isclose(size, p) or math.isclose(size, 1 / p) for size in sizes for p in (*_PERIODS, *_SHARES))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(number: Any) -> float:
    return int(number) if isinstance(number, int) else float(number)

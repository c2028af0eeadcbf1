"""The unit of a covered plan's result, and whether it is what the question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from finray.core.plan import Coverage, Found, Unit
from finray.core.query import Query
from finray.question.measures.units import fits

_NAMES = frozenset({"which", "trend", "sign", "versus"})
"""Kinds of plans whose answer is a name, or yes or no."""
_DIVIDES = re.compile(r"/|\b(?:growth|cagr|difference)\(")
"""What turns amounts into a percentage in a program."""


def is_odd(value: float, unit: str | None) -> bool:
    """Whether a percentage (12.5 is 12.5%) or quotient has a size that hardly anyone reports: its operands were
    probably mixed up."""
    size = abs(value)
    if unit == "percent":
        return size > 1_000 or 0 < size < 0.01
    return unit == "ratio" and (size > 1_000 or 0 < size < 0.001)


def printed_unit(found: Iterable[Found]) -> Unit | None:
    """The unit that all operands share, unless it is a currency."""
    units = {item.unit for item in found}
    return units.pop() if len(units) == 1 and "USD" not in units else None


def result_unit(query: Query, coverage: Coverage) -> Unit:
    """The unit of the plan's value. If the plan only assumes money, the unit that its rows print."""
    unit = coverage.plan.unit
    if unit == "USD":
        unit = printed_unit(coverage.found.values()) or unit
    return "percent" if unit == "ratio" and query.shape.unit == "percent" else unit


def answers_unit(query: Query, coverage: Coverage) -> bool:
    """Whether the result has the unit that the question asks for, or any: 22% divided by $9,602 million has none."""
    if coverage.plan.kind in _NAMES:
        return True
    percent = {item.unit == "percent" for item in coverage.found.values()}
    if len(percent) > 1 and "*" not in coverage.plan.program:
        return False
    money = any(item.currency for item in coverage.found.values())
    if money and coverage.plan.unit == "percent" and not _DIVIDES.search(coverage.plan.program):
        return False
    return fits(query.shape.unit, result_unit(query, coverage), money=money)

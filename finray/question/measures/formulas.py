"""Metrics by their keys: canonical line items, and formulas over them (free cash flow, DPO, ROA …; formulas.toml)."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from typing import cast

from finray.core.data_files import shipped_data
from finray.core.plan import Formula, Unit
from finray.filings.tables.canonical import canonical_items
from finray.question.arithmetic import PERIOD_FUNCTIONS, names, parse


@cache
def formulas() -> dict[str, Formula]:
    """All formulas by key."""
    return {
        key: Formula(key, tuple(entry["names"]), entry["formula"], entry["unit"])
        for key, entry in shipped_data("finray.question.measures", "formulas.toml").items()
    }


def formula_of(metric: str) -> Formula:
    """The formula with the key ``metric``, or the canonical line item as one. Raises KeyError for an unknown key."""
    if metric in formulas():
        return formulas()[metric]
    item = canonical_items()[metric]
    unit = cast(Unit, item.unit) if item.unit in ("USD/share", "shares") else "USD"
    return Formula(metric, (item.names[0],), metric, unit)


@cache
def usual_names() -> dict[str, str]:
    """What each canonical line item and each formula is usually called, by key."""
    return {key: formula_of(key).names[0] for key in (*canonical_items(), *formulas())}


def line_items(formula: Formula) -> tuple[str, ...]:
    """The canonical line items and phrases in ``formula``."""
    return names(formula.expression)


def line_items_of(metrics: Iterable[str]) -> tuple[str, ...]:
    """The canonical line items that ``metrics`` are, or are computed from, each once."""
    return tuple(dict.fromkeys(item for metric in metrics for item in line_items(formula_of(metric))))


def at_period(expression: str) -> str:
    """Expand avg, prior and delta: every operand becomes ``item__0`` (the period) or ``item__1`` (a year before).

    Raises ProgramError, also if the result is too long.

    >>> at_period("revenue / avg(ppe_net)")
    'revenue__0 / mean(ppe_net__1, ppe_net__0)'
    """
    expanded = ast.unparse(_Shift(0).visit(parse(expression)))
    parse(expanded)
    return expanded


class _Shift(ast.NodeTransformer):
    """Names the operands of an expression as of ``back`` years before."""

    def __init__(self, back: int) -> None:
        self._back = back

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(f"{node.id}__{self._back}")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        function = node.func.id
        if function not in PERIOD_FUNCTIONS:
            return ast.Call(node.func, [self.visit(argument) for argument in node.args], [])
        now, before = _Shift(self._back).visit(node.args[0]), _Shift(self._back + 1).visit(node.args[0])
        if function == "prior":
            return cast(ast.expr, before)
        if function == "avg":
            return ast.Call(ast.Name("mean"), [before, now], [])
        return ast.BinOp(now, ast.Sub(), before)

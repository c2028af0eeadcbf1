"""Features of a computation that may be meant, for a fitted model."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from finray.answering.cells.cell_features import FEATURES as CELL_FEATURES
from finray.answering.cells.page_cells import PageCell, measure_of
from finray.answering.plans.units import is_odd
from finray.answering.table_reader.amounts import amount_of, asked_for, operands_of, signed_amount
from finray.answering.table_reader.columns import NAMED, Columns
from finray.answering.table_reader.looked_up import Matches
from finray.answering.table_reader.odds import Odds
from finray.answering.table_reader.operations import (
    ARITHMETIC,
    COMPOSED,
    LISTED,
    NAMING,
    Operation,
    Reading,
    Roles,
    result,
    roles_of,
)
from finray.answering.table_reader.shortlist import Shortlist
from finray.core.plan import Unit
from finray.core.query import Query
from finray.question.measures.units import fits

_OF_CELLS: Final = (
    "cover", "best_cover", "surplus", "surplus_column", "part", "fit", "bare", "opens", "closes", "total", "undated",
    "year", "other_year", "plain", "unasked_percent", "statement", "named_statement", "first_page", "page",
    "other_filing", "change", "figures", "other_figures",
)  # fmt: skip
FEATURES: Final[Mapping[str, str]] = {
    "operation": "log probability of the operation, by the row model",
    "tagger": "the question reader found the same operation",
    "tagger_other": "the question reader found another one",
    "several": "log probability that the operands are of several rows, or of one",
    "measure": "mean log probability that the operands measure what theirs do: money, percent, ...",
    "order": "log probability of the order of two periods",
    "first": "log probability of the first operand's row",
    "second": "log probability of the second operand's row",
    "listed": "mean log probability that the rows are listed ones",
    "unlisted": "log probability that no other row is a listed one",
    "operand": "mean log probability that the rows are operands, by themselves",
    "operand_least": "the least of these",
    "words": "the first row's words, below those of the best row",
    "period": "fit of the worst operand's period",
    "periods": "mean fit of the operands' periods",
    "unnamed": "periods that the question names and no operand has",
    "prior": "the second operand is of the year before the only period that the question names",
    "counted": 'the question counts years ("the last three years"), and the operands are of as many',
    "miscounted": "it counts years, and the operands are not of as many",
    "backwards": "the first of two periods is the older one",
    "same_table": "the operands are of one table",
    "same_page": "the operands are of one page",
    "same_row": "the operands are of one printed row",
    "same_column": "the operands are of one column of a table",
    "same_period": "the operands are of one period",
    "same_unit": "the operands have one unit",
    "multiplied": "a product of shares and an amount per share",
    "unit": "the result has the unit asked for",
    "misfit": "the result has another unit than that asked for",
    "money_ratio": "a quotient of amounts of money, for a question that asks for no unit",
    "per_unit": "a quotient of different units",
    "negative": "the figure is negative",
    "single": "one cell",
    "pair": "two cells in order",
    "list": "two or more cells in any order",
    "length": "logarithm of the number of cells",
    "composite": "an operation on sums, differences or shares of rows",
    "matched": "mean match of the cells with the words of their quantities",
    "matched_best": "the same, below that of the best rows",
    "held": "mean share of a quantity's words in row, section or column",
    "spare": "mean share of a row's words that its quantity lacks",
    "looked_up": "share of the cells that a look-up of the quantities found",
    "unused": "share of the found cells that the reading does not use",
    "odd": "a percentage or quotient of a size that hardly anyone reports",
    "over": "a share of more than the whole",
    "of_total": "a share or quotient whose last operand alone is a total",
    **{name: f"{name} of the cells, as in cell_features" for name in _OF_CELLS},
}
_CELL_COLUMNS: Final = [list(CELL_FEATURES).index(name) for name in _OF_CELLS]
_TOTAL = re.compile(r"\b(?:total|consolidated)\b", re.I)
_SHARES: Final = frozenset({"share", "sum_share", "part_share", "rest_share"})
_RATIOS: Final = frozenset({"ratio", "sum_ratio"})
_TAGGED: Final[Mapping[str, frozenset[str]]] = {
    "max": frozenset({"max", "which_max"}),
    "min": frozenset({"min", "which_min"}),
    "which": frozenset({"which_max", "which_min"}),
    "share": _SHARES | {"share_change", "share_average", "change_share"},
    "difference": frozenset({"difference", "share_change", "sum_change", "gap_change", "net", "sum_less"}),
    "growth": frozenset({"growth", "sum_growth", "gap_growth"}),
    "sum": frozenset({"sum", "sum_share", "sum_ratio", "sum_change", "sum_growth", "sum_less"}),
    "average": frozenset({"average", "share_average"}),
    "ratio": _RATIOS,
}


def unit_of(operation: Operation, cells: Sequence[PageCell]) -> Unit:
    """The unit of the result: that of the operation, else of the cells."""
    fixed = ARITHMETIC[operation].unit
    if fixed is not None:
        return fixed
    units: Mapping[str | None, Unit] = {"percent": "percent", "shares": "shares", "per share": "USD/share"}
    return units.get(measure_of(cells[0].item), "USD")


def _is_of_money(cells: Sequence[PageCell]) -> bool:
    """Whether a plain number or a percentage is divided by money: "7.2 over $3,423 million" means nothing."""
    first, second = (measure_of(cell.item) for cell in cells)
    return second == "money" and first in (None, "percent")


class Describer:
    """Describes the readings of one question."""

    def __init__(self, query: Query, rows: Shortlist, odds: Odds, columns: Columns, matches: Matches) -> None:
        self._query, self._rows, self._odds, self._columns, self._matches = query, rows, odds, columns, matches
        self._best_match = matches.words.max(axis=0, initial=0.0)
        self._looked_up = len(set(matches.found) - {-1})
        self._of_cells = rows.features[:, _CELL_COLUMNS]
        asked = asked_for(query)
        self._amounts = [amount_of(cell.item) for cell in rows.cells]
        self._alone = [amount_of(cell.item, asked=asked) for cell in rows.cells]
        self._signed = [signed_amount(cell.item) for cell in rows.cells]

    def described(self, reading: Reading) -> tuple[float, list[float]] | None:
        """The value and the features; None without a value, or if the cells are of several filings or currencies."""
        at = list(reading.cells)
        cells = [self._rows.cells[cell] for cell in at]
        if len({cell.filing.filing_id for cell in cells}) > 1:
            return None
        if len({cell.item.unit for cell in cells if measure_of(cell.item) == "money"}) > 1:
            return None
        if reading.operation in _RATIOS | _SHARES and len(at) == 2 and _is_of_money(cells):
            return None
        owners = [self._rows.owner[cell] for cell in at]
        own = self._alone if len(set(owners)) == 1 else self._amounts
        amounts, signed = ([known[cell] for cell in at] for known in (own, self._signed))
        value = result(reading.operation, operands_of(reading.operation, amounts, signed))
        if value is None:
            return None
        composed = reading.operation in COMPOSED
        pair = len(at) == 2 and reading.operation not in LISTED and not composed
        several = len(set(owners)) > 1
        roles = roles_of(reading.operation, len(at), several=several)
        summed = sorted({owners[place] for place in roles.summed})
        fits_period, unnamed, prior, backwards = self._periods(at, roles)
        ends = {cell.item.period_end for cell in cells}
        ordered = pair and len(ends) == 2 and None not in ends
        measures = {measure_of(cell.item) for cell in cells}
        unit = unit_of(reading.operation, cells)
        asked = self._query.shape.unit
        if asked is None and "share" in self._query.intents:
            asked = "percent"  # "what portion of its sites": their number is no portion
        counted = self._is_counted(sorted(end for end in ends if end is not None), pair=pair)
        names = reading.operation in NAMING
        money = measures == {"money"}
        fitting = names or fits(asked, unit, money=money)
        tagged = self._query.operation
        agrees = reading.operation in _TAGGED.get(tagged, frozenset({tagged}))
        odds = self._odds
        row = {
            "operation": odds.operations[reading.operation],
            "tagger": agrees,
            "tagger_other": bool(tagged) and not agrees,
            "several": self._odds.several[several] if len(at) > 1 else 0.0,
            "measure": sum(self._odds.measures[measure_of(cell.item) or "number"] for cell in cells) / len(cells),
            "order": self._odds.order[backwards] if ordered else 0.0,
            "first": odds.first[owners[roles.first]] if roles.first is not None else 0.0,
            "second": odds.second[owners[roles.second]] if roles.second is not None else 0.0,
            "listed": float(odds.listed[summed].mean()) if summed else 0.0,
            "unlisted": float(odds.unlisted.sum() - odds.unlisted[summed].sum()) if summed else 0.0,
            "operand": float(self._odds.operand[owners].mean()),
            "operand_least": float(self._odds.operand[owners].min()),
            "words": self._rows.scores[owners[0]] - self._rows.scores.max(),
            "period": min(fits_period),
            "periods": sum(fits_period) / len(fits_period),
            "unnamed": unnamed,
            "prior": prior,
            "counted": counted is True,
            "miscounted": counted is False,
            "backwards": backwards,
            "same_table": len({self._rows.series[owner].table for owner in owners}) == 1,
            "same_page": len({(cell.filing.filing_id, cell.item.page) for cell in cells}) == 1,
            "same_row": len({cell.row for cell in cells}) == 1,
            "same_column": len(
                {(self._rows.series[o].table, c.item.column) for o, c in zip(owners, cells, strict=True)}
            )
            == 1,
            "same_period": len({(cell.item.period_end, cell.item.months) for cell in cells}) == 1,
            "same_unit": len(measures) == 1,
            "multiplied": reading.operation == "product" and measures == {"shares", "per share"},
            "unit": asked is not None and fitting,
            "misfit": not fitting,
            "money_ratio": reading.operation in _RATIOS and money and asked is None,
            "per_unit": reading.operation in _RATIOS and len(measures) > 1,
            "negative": value < 0,
            "single": len(at) == 1,
            "pair": pair,
            "list": reading.operation in LISTED,
            "length": math.log(len(at)),
            "composite": composed,
            **self._looks(at, in_order=pair and several),
            "odd": is_odd(100 * value if unit == "percent" else value, unit),
            "over": reading.operation in _SHARES and value > 1,
            "of_total": reading.operation in _SHARES | _RATIOS and _ends_in_total(cells),
        }
        return value, [*(float(row[name]) for name in row), *self._of_cells[at].mean(axis=0)]

    def _is_counted(self, ends: Sequence[dt.date], *, pair: bool) -> bool | None:
        """Whether periods that end on ``ends`` are, or two of them span, as many years as the question counts; None if
        it counts none."""
        years = self._query.last_years
        if years is None:
            return None
        if pair:
            return len(ends) == 2 and ends[1].year - ends[0].year in (years - 1, years)
        return len(ends) == years

    def _looks(self, at: Sequence[int], *, in_order: bool) -> dict[str, float]:
        """How the cells agree with the words of the quantities: each with its own if they are ``in_order``, else with
        the one that it fits best."""
        known = self._matches
        used = {known.found[cell] for cell in at} - {-1}
        found = {
            "looked_up": sum(known.found[cell] >= 0 for cell in at) / len(at),
            "unused": 1 - len(used) / self._looked_up if self._looked_up else 0.0,
        }
        quantities = known.words.shape[1]
        if not quantities:
            return {"matched": 0.0, "matched_best": 0.0, "held": 0.0, "spare": 0.0, **found}
        best = known.words[at].argmax(axis=1)
        own = np.arange(len(at)) if in_order and quantities == len(at) else best
        return {
            "matched": float(known.words[at, own].mean()),
            "matched_best": float((known.words[at, own] - self._best_match[own]).mean()),
            "held": float(known.held[at, own].mean()),
            "spare": float(known.spare[at, own].mean()),
            **found,
        }

    def _periods(self, at: Sequence[int], roles: Roles) -> tuple[list[float], int, bool, bool]:
        """Fit of each operand's period, unnamed periods, prior, backwards."""
        columns = self._columns
        fits_now = columns.fits[at]
        used = (fits_now >= NAMED).any(axis=0)
        unnamed = int(columns.named - used.sum()) if columns.named else 0
        at = [at[place] for place in roles.periods or ()]
        ends = [self._rows.cells[cell].item.period_end for cell in at]
        if not at or (roles.second == 1 and ends[0] == ends[1]):
            return fits_now.max(axis=1).tolist(), max(unnamed, 0), False, False
        fits_now = columns.fits[at]
        backwards = ends[0] is not None and ends[1] is not None and ends[0] < ends[1]
        if columns.named <= 1:
            earlier = float(columns.before[at[1]].max())
            return [float(fits_now[0].max()), earlier], 0, earlier >= NAMED, backwards
        straight = min(fits_now[0, -1], fits_now[1, 0])
        crossed = min(fits_now[0, 0], fits_now[1, -1])
        best = [fits_now[0, -1], fits_now[1, 0]] if straight >= crossed else [fits_now[0, 0], fits_now[1, -1]]
        return [float(fit) for fit in best], max(unnamed, 0), False, backwards


def _ends_in_total(cells: Sequence[PageCell]) -> bool:
    """Whether the last one alone is a total."""
    return _is_total(cells[-1]) and not any(map(_is_total, cells[:-1]))


def _is_total(cell: PageCell) -> bool:
    return _TOTAL.search(f"{cell.item.label} {cell.item.column_label or ''}") is not None

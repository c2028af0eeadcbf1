"""Features of a computation that a question may mean, for a fitted model."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from finray.answering.cells.page_cells import PageCell, measure_of
from finray.answering.plans.units import is_odd
from finray.answering.table_reader.amounts import (
    added_with_signs,
    amount_of,
    quantity_words,
    signed_amount,
    unit_of_cell,
)
from finray.answering.table_reader.columns import NAMED, Columns
from finray.answering.table_reader.looked_up import Matches
from finray.answering.table_reader.odds import Odds
from finray.answering.table_reader.operations import (
    ARITHMETIC,
    LISTED,
    NAMING,
    Operation,
    Reading,
    Roles,
    is_pair,
    result,
    roles_of,
)
from finray.answering.table_reader.reading_averages import AVERAGED, OF_CELLS, averaged
from finray.answering.table_reader.shortlist import Shortlist
from finray.core.arrays import Floats
from finray.core.plan import Unit
from finray.core.query import Query
from finray.question.measures.units import fits

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
    "unit": "the result has the unit asked for",
    "misfit": "the result has another unit than that asked for",
    "money_ratio": "a quotient of amounts of money, for a question that asks for no unit",
    "per_unit": "a quotient of different units",
    "negative": "the figure is negative",
    "single": "one cell",
    "pair": "two cells in order",
    "list": "two or more cells in any order",
    "length": "logarithm of the number of cells",
    "matched": "mean match of the cells with the words of their quantities",
    "matched_best": "the same, below that of the best rows",
    "held": "mean share of a quantity's words in row, section or column",
    "spare": "mean share of a row's words that its quantity lacks",
    "looked_up": "share of the cells that a look-up of the quantities found",
    "unused": "share of the found cells that the reading does not use",
    "odd": "a percentage or quotient of a size that hardly anyone reports",
    "over": "a share of more than the whole",
    "of_total": "a share or quotient whose last operand alone is a total",
    **{name: f"{name} of the cells, as in cell_features" for name in OF_CELLS},
}
_AVERAGED: Final = [list(FEATURES).index(name) for name in AVERAGED]
_SINGLE: Final = [name for name in FEATURES if name not in AVERAGED]
_SINGLE_COLUMNS: Final = [list(FEATURES).index(name) for name in _SINGLE]
_TOTAL = re.compile(r"\b(?:total|consolidated)\b", re.I)
_TAGGED: Final[Mapping[str, frozenset[str]]] = {
    "max": frozenset({"max", "which_max"}),
    "min": frozenset({"min", "which_min"}),
    "which": frozenset({"which_max", "which_min"}),
}


def unit_of(operation: Operation, cells: Sequence[PageCell]) -> Unit:
    """The unit of the result: that of the operation, else of the cells."""
    return ARITHMETIC[operation].unit or unit_of_cell(cells[0].item)


@dataclass(frozen=True, slots=True)
class _Operands:
    """The cells of a reading, their numbers in the shortlist (``at``) and those of their series (``owners``)."""

    operation: Operation
    at: list[int]
    cells: list[PageCell]
    owners: list[int]

    @property
    def several(self) -> bool:
        """Whether the cells are of several series."""
        return len(set(self.owners)) > 1

    @property
    def pair(self) -> bool:
        """Whether the operation takes two cells in order."""
        return is_pair(self.operation, len(self.at))

    @property
    def roles(self) -> Roles:
        return roles_of(self.operation, len(self.at), several=self.several)


class Describer:
    """Describes the readings of one question."""

    def __init__(self, query: Query, rows: Shortlist, odds: Odds, columns: Columns, matches: Matches) -> None:
        self._query, self._rows, self._odds, self._columns, self._matches = query, rows, odds, columns, matches
        self._looked_up = len(set(matches.found) - {-1})
        # Readings are many and their cells few, so what is known of each cell or row is at hand as plain numbers.
        self._first, self._second = odds.first.tolist(), odds.second.tolist()
        self._measures = [odds.measures[measure_of(cell.item) or "number"] for cell in rows.cells]
        self._below = (rows.scores - rows.scores.max(initial=-math.inf)).tolist()
        self._fits, self._best_fit = columns.fits.tolist(), columns.fits.max(axis=1).tolist()
        self._before = columns.before.max(axis=1).tolist()
        self._named = [frozenset(np.flatnonzero(fits >= NAMED).tolist()) for fits in columns.fits]
        self._lists: dict[tuple[int, ...], tuple[float, float]] = {}
        words = quantity_words(query)
        self._amounts = [amount_of(cell.item) for cell in rows.cells]
        self._alone = [amount_of(cell.item, words) for cell in rows.cells]
        self._signed = [signed_amount(cell.item) for cell in rows.cells]
        # "What portion of its sites": the number of sites is not a portion.
        self._unit = query.shape.unit or ("percent" if "share" in query.intents else None)
        self._tagged = _TAGGED.get(query.operation, frozenset({query.operation}))

    def features(self, readings: Mapping[Reading, Sequence[float]]) -> Floats:
        """float64 [len(readings), len(FEATURES)], given what :meth:`described` returns of each reading."""
        features = np.zeros((len(readings), len(FEATURES)))
        if readings:
            features[:, _SINGLE_COLUMNS] = list(readings.values())
            features[:, _AVERAGED] = averaged(tuple(readings), self._rows, self._odds, self._matches)
        return features

    def described(self, reading: Reading) -> tuple[float, list[float]] | None:
        """The value, and the features that are no averages over the cells; None without a value, or if the cells cannot
        be computed with one another."""
        operands = self._operands(reading)
        operation, at = operands.operation, operands.at
        if not _may_combine(operation, operands.cells):
            return None
        amounts = self._amounts if operands.several else self._alone
        own, signed = [amounts[cell] for cell in at], [self._signed[cell] for cell in at]
        value = result(operation, added_with_signs(operation, own, signed))
        if value is None:
            return None
        row = {
            **self._likelihoods(operands),
            **self._periods(operands),
            **self._places(operands),
            **self._result(operands, value),
            **self._found(operands),
            "single": len(at) == 1,
            "pair": operands.pair,
            "list": operation in LISTED,
            "length": math.log(len(at)),
        }
        return value, [float(row[name]) for name in _SINGLE]

    def _operands(self, reading: Reading) -> _Operands:
        at = list(reading.cells)
        return _Operands(
            reading.operation, at, [self._rows.cells[cell] for cell in at], [self._rows.owner[cell] for cell in at]
        )

    def _likelihoods(self, operands: _Operands) -> dict[str, float]:
        """Log probabilities by the row model, and agreement with the question reader."""
        odds, owners, roles = self._odds, operands.owners, operands.roles
        listed, unlisted = self._listed(tuple(sorted({owners[place] for place in roles.summed})))
        agrees = operands.operation in self._tagged
        return {
            "operation": odds.operations[operands.operation],
            "tagger": agrees,
            "tagger_other": bool(self._query.operation) and not agrees,
            "several": odds.several[operands.several] if len(owners) > 1 else 0.0,
            "measure": sum(self._measures[cell] for cell in operands.at) / len(operands.at),
            "first": self._first[owners[roles.first]] if roles.first is not None else 0.0,
            "second": self._second[owners[roles.second]] if roles.second is not None else 0.0,
            "listed": listed,
            "unlisted": unlisted,
            "words": self._below[owners[0]],
        }

    def _listed(self, rows: tuple[int, ...]) -> tuple[float, float]:
        """Mean log probability that ``rows`` are listed ones, and the one that no other row is."""
        if not rows:
            return 0.0, 0.0
        if rows not in self._lists:
            listed, unlisted, own = self._odds.listed, self._odds.unlisted, list(rows)
            self._lists[rows] = float(listed[own].mean()), float(unlisted.sum() - unlisted[own].sum())
        return self._lists[rows]

    def _periods(self, operands: _Operands) -> dict[str, float]:
        fits_period, unnamed, prior, backwards = self._period_fits(operands)
        ends = {cell.item.period_end for cell in operands.cells}
        ordered = operands.pair and len(ends) == 2 and None not in ends
        counted = self._is_counted(sorted(end for end in ends if end is not None), pair=operands.pair)
        return {
            "order": self._odds.order[backwards] if ordered else 0.0,
            "period": min(fits_period),
            "periods": sum(fits_period) / len(fits_period),
            "unnamed": unnamed,
            "prior": prior,
            "counted": counted is True,
            "miscounted": counted is False,
            "backwards": backwards,
        }

    def _period_fits(self, operands: _Operands) -> tuple[list[float], int, bool, bool]:
        """Fit of each operand's period, the number of named periods that no operand is of, ``prior``, ``backwards``."""
        columns, roles = self._columns, operands.roles
        every = [self._best_fit[cell] for cell in operands.at]
        unnamed = max(columns.named - len(frozenset().union(*(self._named[cell] for cell in operands.at))), 0)
        at = [operands.at[place] for place in roles.periods or ()]
        ends = [self._rows.cells[cell].item.period_end for cell in at]
        if not at or (roles.second == 1 and ends[0] == ends[1]):
            return every, unnamed, False, False
        later, earlier = (self._fits[cell] for cell in at)
        backwards = ends[0] is not None and ends[1] is not None and ends[0] < ends[1]
        if columns.named <= 1:
            year_before = self._before[at[1]]
            return [max(later), year_before], 0, year_before >= NAMED, backwards
        straight, crossed = [later[-1], earlier[0]], [later[0], earlier[-1]]
        return max(straight, crossed, key=min), unnamed, False, backwards

    def _is_counted(self, ends: Sequence[dt.date], *, pair: bool) -> bool | None:
        """Whether as many periods as the question counts ("the last three years") end on ``ends``, or a ``pair`` of
        them spans as many years; None if it counts none."""
        years = self._query.last_years
        if years is None:
            return None
        if pair:
            return len(ends) == 2 and ends[1].year - ends[0].year in (years - 1, years)
        return len(ends) == years

    def _places(self, operands: _Operands) -> dict[str, float]:
        """Whether the operands are in one table, row, column or period."""
        cells = operands.cells
        tables = [self._rows.series[owner].table for owner in operands.owners]
        return {
            "same_table": _are_same(tables),
            "same_page": _are_same((cell.filing.filing_id, cell.item.page) for cell in cells),
            "same_row": _are_same(cell.row for cell in cells),
            "same_column": _are_same((table, cell.item.column) for table, cell in zip(tables, cells, strict=True)),
            "same_period": _are_same((cell.item.period_end, cell.item.months) for cell in cells),
        }

    def _result(self, operands: _Operands, value: float) -> dict[str, float]:
        """The size of the result, and its unit beside the unit asked for."""
        operation, cells, asked = operands.operation, operands.cells, self._unit
        measures = {measure_of(cell.item) for cell in cells}
        money, ratio, share = measures == {"money"}, operation == "ratio", operation == "share"
        unit = unit_of(operation, cells)
        fitting = operation in NAMING or fits(asked, unit, money=money)
        return {
            "same_unit": len(measures) == 1,
            "unit": asked is not None and fitting,
            "misfit": not fitting,
            "money_ratio": ratio and money and asked is None,
            "per_unit": ratio and len(measures) > 1,
            "negative": value < 0,
            "odd": is_odd(100 * value if unit == "percent" else value, unit),
            "over": share and value > 1,
            "of_total": (share or ratio) and _ends_in_total(cells),
        }

    def _found(self, operands: _Operands) -> dict[str, float]:
        """How many of the cells a look-up of the quantities found."""
        found = [number for cell in operands.at if (number := self._matches.found[cell]) >= 0]
        return {
            "looked_up": len(found) / len(operands.at),
            "unused": 1 - len(set(found)) / self._looked_up if self._looked_up else 0.0,
        }


def _may_combine(operation: Operation, cells: Sequence[PageCell]) -> bool:
    """Whether the cells are of one filing and one currency, and their quotient means something."""
    if len({cell.filing.filing_id for cell in cells}) > 1:
        return False
    if len({cell.item.unit for cell in cells if measure_of(cell.item) == "money"}) > 1:
        return False
    return not (operation in ("ratio", "share") and len(cells) == 2 and _divides_by_money(cells))


def _divides_by_money(cells: Sequence[PageCell]) -> bool:
    """Whether a plain number or a percentage is divided by money: "7.2 over $3,423 million" means nothing."""
    first, second = (measure_of(cell.item) for cell in cells)
    return second == "money" and first in (None, "percent")


def _are_same(values: Iterable[Hashable]) -> bool:
    return len(set(values)) == 1


def _ends_in_total(cells: Sequence[PageCell]) -> bool:
    """Whether the last one alone is a total."""
    return _is_total(cells[-1]) and not any(map(_is_total, cells[:-1]))


def _is_total(cell: PageCell) -> bool:
    return _TOTAL.search(f"{cell.item.label} {cell.item.column_label or ''}") is not None

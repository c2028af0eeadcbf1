"""Every computation that may be meant: an operation, its rows and its columns, with features for a fitted model."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from finray.answering.cell_features import FEATURES as CELL_FEATURES
from finray.answering.cell_features import is_dash
from finray.answering.page_cells import PageCell, measure_of
from finray.answering.sentence_features import Floats
from finray.answering.table_reader.amounts import amount_of
from finray.answering.table_reader.columns import NAMED, Columns
from finray.answering.table_reader.looked_up import Matches
from finray.answering.table_reader.operations import ARITHMETIC, LISTED, NAMING, OPERATIONS, Operation, result
from finray.answering.table_reader.shortlist import Shortlist
from finray.answering.units import is_odd
from finray.core.plan import Unit
from finray.core.query import Query
from finray.models.row_reader import RowScores
from finray.question.units import fits

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
    "first": "log probability of the first operand's row",
    "second": "log probability of the second operand's row",
    "listed": "mean log probability that the rows are listed ones",
    "unlisted": "log probability that no other row is a listed one",
    "words": "the first row's words, below those of the best row",
    "period": "fit of the worst operand's period",
    "periods": "mean fit of the operands' periods",
    "unnamed": "periods that the question names and no operand has",
    "prior": "the second operand is of the year before the only period that the question names",
    "backwards": "the first of two periods is the older one",
    "same_table": "the operands are of one table",
    "same_page": "the operands are of one page",
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
    **{name: f"{name} of the cells, as in cell_features" for name in _OF_CELLS},
}
_COLUMN: Final = {name: at for at, name in enumerate(FEATURES)}
_CELL_COLUMNS: Final = [list(CELL_FEATURES).index(name) for name in _OF_CELLS]
_FIRST_ROWS, _SECOND_ROWS, _LISTED_ROWS = 6, 5, 10
_LEAST_LOG = math.log(0.004)
"""Operations less likely than this are not tried."""
_MOST_PERIODS = 12
_TAGGED: Final[Mapping[str, frozenset[str]]] = {
    "max": frozenset({"max", "which_max"}),
    "min": frozenset({"min", "which_min"}),
    "which": frozenset({"which_max", "which_min"}),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """``operation`` over ``cells``, numbers of those of the shortlist in the order of the operation."""

    operation: Operation
    cells: tuple[int, ...]


@dataclass(frozen=True)
class Readings:
    """``readings`` with their ``values`` in base units and ``features``, float64 [len(readings), len(FEATURES)]."""

    shortlist: Shortlist
    readings: tuple[Reading, ...]
    values: Floats
    features: Floats

    @property
    def unprinted(self) -> float:
        return self.shortlist.unprinted


def readings_of(query: Query, rows: Shortlist, scores: RowScores, columns: Columns, matches: Matches) -> Readings:
    """The readings that have a value."""
    maker = _Maker(query, rows, scores, columns, matches)
    found: dict[Reading, tuple[float, list[float]]] = {}
    for reading in maker.readings():
        if reading not in found and (described := maker.described(reading)) is not None:
            found[reading] = described
    values = np.asarray([value for value, _ in found.values()])
    features = np.asarray([row for _, row in found.values()]).reshape(len(found), len(FEATURES))
    return Readings(rows, tuple(found), values, features)


def unit_of(operation: Operation, cells: Sequence[PageCell]) -> Unit:
    """The unit of the result: that of the operation, else of the cells."""
    fixed = ARITHMETIC[operation].unit
    if fixed is not None:
        return fixed
    units: Mapping[str | None, Unit] = {"percent": "percent", "shares": "shares", "per share": "USD/share"}
    return units.get(measure_of(cells[0].item), "USD")


class _Maker:
    def __init__(self, query: Query, rows: Shortlist, scores: RowScores, columns: Columns, matches: Matches) -> None:
        self._query, self._rows, self._columns, self._matches = query, rows, columns, matches
        self._best_match = matches.words.max(axis=0, initial=0.0)
        self._looked_up = len(set(matches.found) - {-1})
        self._operations = {
            operation: float(score)
            for operation, score in zip(OPERATIONS, scores.operations[:-1], strict=True)
            if score >= _LEAST_LOG or operation == "value"
        }
        self._several = (_log_sigmoid(-scores.several), _log_sigmoid(scores.several))
        self._first, self._second = _log_softmax(scores.first), _log_softmax(scores.second)
        self._in = np.asarray([_log_sigmoid(x) for x in scores.listed])
        self._out = np.asarray([_log_sigmoid(-x) for x in scores.listed])
        self._of_row: list[list[int]] = [[] for _ in rows.series]
        for cell, owner in enumerate(rows.owner):
            if not is_dash(rows.cells[cell].item):
                self._of_row[owner].append(cell)
        self._fit = columns.fits.max(axis=1) if len(rows.cells) else np.zeros(0)
        self._of_cells = rows.features[:, _CELL_COLUMNS]
        self._amounts = [amount_of(cell.item) for cell in rows.cells]

    def readings(self) -> Iterator[Reading]:
        first = np.argsort(-self._first).tolist()
        second = np.argsort(-self._second)[:_SECOND_ROWS].tolist()
        for operation in self._operations:
            if operation == "value":
                yield from (Reading("value", (cell,)) for row in first for cell in self._of_row[row])
            elif operation in LISTED:
                yield from self._lists(operation, first)
            else:
                yield from self._pairs(operation, first[:_FIRST_ROWS], second)

    def _pairs(self, operation: Operation, first: Sequence[int], second: Sequence[int]) -> Iterator[Reading]:
        for row in first:
            own = self._of_row[row]
            if operation != "share" and len(own) <= _MOST_PERIODS:
                yield from (Reading(operation, pair) for pair in itertools.permutations(own, 2))
            for other in second:
                if other != row:
                    yield from (Reading(operation, pair) for pair in self._in_columns((row, other)))

    def _lists(self, operation: Operation, first: Sequence[int]) -> Iterator[Reading]:
        for row in first[:_FIRST_ROWS]:
            own = self._of_row[row]
            fitting = [cell for cell in own if self._fit[cell] >= NAMED]
            for cells in (own, fitting, self._between(own)):
                if 1 < len(cells) <= _MOST_PERIODS:
                    yield Reading(operation, tuple(cells))
        ranked = [int(row) for row in np.argsort(-self._in)[:_LISTED_ROWS]]
        for size in range(2, len(ranked) + 1):
            chosen = sorted(ranked[:size])
            yield from (Reading(operation, cells) for cells in self._in_columns(chosen))

    def _between(self, cells: Sequence[int]) -> list[int]:
        """The cells from the first to the last of the periods that fit."""
        dated = [(self._rows.cells[cell].item.period_end, cell) for cell in cells]
        ends = [end for end, cell in dated if end is not None and self._fit[cell] >= NAMED]
        return [cell for end, cell in dated if end is not None and ends and min(ends) <= end <= max(ends)]

    def _in_columns(self, rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """One cell of each row, all of one period (or of one column, if the table dates none)."""
        columns: list[dict[object, int]] = []
        for row in rows:
            own: dict[object, int] = {}
            for cell in self._of_row[row]:
                item = self._rows.cells[cell].item
                key: object = (item.period_end, item.months) if item.period_end is not None else item.column
                own.setdefault(key, cell)
            columns.append(own)
        for key in columns[0]:
            if all(key in own for own in columns):
                yield tuple(own[key] for own in columns)

    def described(self, reading: Reading) -> tuple[float, list[float]] | None:
        """The value and the features; None without a value, or if the cells are of several filings or currencies."""
        at = list(reading.cells)
        cells = [self._rows.cells[cell] for cell in at]
        if len({cell.filing.filing_id for cell in cells}) > 1:
            return None
        if len({cell.item.unit for cell in cells if measure_of(cell.item) == "money"}) > 1:
            return None
        value = result(reading.operation, [self._amounts[cell] for cell in at])
        if value is None:
            return None
        owners = [self._rows.owner[cell] for cell in at]
        pair = len(at) == 2 and reading.operation not in LISTED
        several = len(set(owners)) > 1
        fits_period, unnamed, prior, backwards = self._periods(reading, pair=pair, several=several)
        listed = reading.operation in LISTED and several
        measures = {measure_of(cell.item) for cell in cells}
        unit = unit_of(reading.operation, cells)
        asked = self._query.shape.unit
        if asked is None and "share" in self._query.intents:
            asked = "percent"  # "what portion of its sites": their number is no portion
        names = reading.operation in NAMING
        money = measures == {"money"}
        fitting = names or fits(asked, unit, money=money)
        tagged = self._query.operation
        agrees = reading.operation in _TAGGED.get(tagged, frozenset({tagged}))
        row = {
            "operation": self._operations[reading.operation],
            "tagger": agrees,
            "tagger_other": bool(tagged) and not agrees,
            "several": self._several[several] if len(at) > 1 else 0.0,
            "first": 0.0 if listed else self._first[owners[0]],
            "second": self._second[owners[1]] if pair and several else 0.0,
            "listed": float(self._in[owners].mean()) if listed else 0.0,
            "unlisted": float(self._out.sum() - self._out[sorted(set(owners))].sum()) if listed else 0.0,
            "words": self._rows.scores[owners[0]] - self._rows.scores.max(),
            "period": min(fits_period),
            "periods": sum(fits_period) / len(fits_period),
            "unnamed": unnamed,
            "prior": prior,
            "backwards": backwards,
            "same_table": len({self._rows.series[owner].table for owner in owners}) == 1,
            "same_page": len({(cell.filing.filing_id, cell.item.page) for cell in cells}) == 1,
            "same_unit": len(measures) == 1,
            "unit": asked is not None and fitting,
            "misfit": not fitting,
            "money_ratio": reading.operation == "ratio" and money and asked is None,
            "per_unit": reading.operation == "ratio" and len(measures) > 1,
            "negative": value < 0,
            "single": len(at) == 1,
            "pair": pair,
            "list": reading.operation in LISTED,
            "length": math.log(len(at)),
            **self._looks(at, in_order=pair and several),
            "odd": is_odd(100 * value if unit == "percent" else value, unit),
            "over": reading.operation == "share" and value > 1,
        }
        return value, [*(float(row[name]) for name in row), *self._of_cells[at].mean(axis=0)]

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

    def _periods(self, reading: Reading, *, pair: bool, several: bool) -> tuple[list[float], int, bool, bool]:
        """Fit of each operand's period, unnamed periods, prior, backwards."""
        at, columns = list(reading.cells), self._columns
        fits_now = columns.fits[at]
        used = (fits_now >= NAMED).any(axis=0)
        unnamed = int(columns.named - used.sum()) if columns.named else 0
        if not pair or several:
            return fits_now.max(axis=1).tolist(), max(unnamed, 0), False, False
        ends = [self._rows.cells[cell].item.period_end for cell in at]
        backwards = ends[0] is not None and ends[1] is not None and ends[0] < ends[1]
        if columns.named <= 1:
            earlier = float(columns.before[at[1]].max())
            return [float(fits_now[0].max()), earlier], 0, earlier >= NAMED, backwards
        straight = min(fits_now[0, -1], fits_now[1, 0])
        crossed = min(fits_now[0, 0], fits_now[1, -1])
        best = [fits_now[0, -1], fits_now[1, 0]] if straight >= crossed else [fits_now[0, 0], fits_now[1, -1]]
        return [float(fit) for fit in best], max(unnamed, 0), False, backwards


def _log_sigmoid(x: float) -> float:
    return -math.log1p(math.exp(-x)) if x > -30 else x


def _log_softmax(x: Floats) -> Floats:
    if not x.size:
        return x
    shifted: Floats = x - x.max()
    return shifted - math.log(float(np.exp(shifted).sum()))

"""Every computation that a question may mean: an operation, its rows and its columns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.answering.cells.flow_lengths import asks_flow, flow_lengths, may_be_of
from finray.answering.cells.page_cells import PageCell, is_dash
from finray.answering.table_reader.columns import NAMED, Columns
from finray.answering.table_reader.looked_up import Matches
from finray.answering.table_reader.odds import Odds
from finray.answering.table_reader.operations import LISTED, Operation, Reading
from finray.answering.table_reader.reading_features import Describer
from finray.answering.table_reader.shortlist import Shortlist
from finray.core.arrays import Floats
from finray.core.query import Query
from finray.models.row_reader import RowScores

_FIRST_ROWS, _SECOND_ROWS, _LISTED_ROWS = 6, 5, 10
_PAIRED_ROWS = 6
"""Rows of which any two may be added up or compared; longer lists are of the likeliest rows."""
_MOST_PERIODS = 12
_MOST_SPLIT = 3
"""Cells of each of two series that are one printed row."""


@dataclass(frozen=True)
class Readings:
    """``readings`` over the cells of ``shortlist``, with their ``values`` in base units, float64 [len(readings)], and
    ``features``, float64 [len(readings), len(FEATURES)]."""

    shortlist: Shortlist
    readings: tuple[Reading, ...]
    values: Floats
    features: Floats

    def cells_of(self, reading: Reading) -> list[PageCell]:
        """The cells of ``reading``, in the order of its operation."""
        return [self.shortlist.cells[number] for number in reading.cells]


def readings_of(query: Query, rows: Shortlist, scores: RowScores, columns: Columns, matches: Matches) -> Readings:
    """The readings that have a value."""
    odds = Odds.of(scores)
    describer = Describer(query, rows, odds, columns, matches)
    found: dict[Reading, tuple[float, list[float]]] = {}
    lengths = flow_lengths(query)
    balances = not asks_flow(query)
    fitting = [not lengths or may_be_of(lengths, cell.item, cell.filing, balances=balances) for cell in rows.cells]
    elsewhere = _of_other_periods(query, rows, columns)
    for reading in _Generator(rows, odds, columns, query.last_years or 0).readings():
        if not any(fitting[cell] for cell in reading.cells):
            continue  # one is enough, for a quarter's share of six months
        if reading.operation == "value" and elsewhere[reading.cells[0]]:
            continue
        if reading not in found and (described := describer.described(reading)) is not None:
            found[reading] = described
    values = np.asarray([value for value, _ in found.values()])
    features = describer.features({reading: row for reading, (_, row) in found.items()})
    return Readings(rows, tuple(found), values, features)


def _of_other_periods(query: Query, rows: Shortlist, columns: Columns) -> npt.NDArray[np.bool_]:
    """Which cells the table dates in another period than any that the question names, so that they do not answer it. A
    cell without a date may be of any."""
    dated = np.asarray([cell.item.period_end is not None for cell in rows.cells], dtype=np.bool_)
    if not columns.named or query.last_years:
        return np.zeros(len(rows.cells), dtype=np.bool_)
    other: npt.NDArray[np.bool_] = dated & (columns.fits.max(axis=1) <= 0)
    return other


class _Generator:
    """Combines the rows and columns of a shortlist by the likely operations."""

    def __init__(self, rows: Shortlist, odds: Odds, columns: Columns, years: int) -> None:
        self._rows, self._odds, self._years = rows, odds, years
        self._of_row: list[list[int]] = [[] for _ in rows.series]
        for cell, owner in enumerate(rows.owner):
            if not is_dash(rows.cells[cell].item):
                self._of_row[owner].append(cell)
        self._columns = columns
        self._fit = columns.fits.max(axis=1)

    def readings(self) -> Iterator[Reading]:
        first = np.argsort(-self._odds.first).tolist()
        second = np.argsort(-self._odds.second)[:_SECOND_ROWS].tolist()
        for operation in self._odds.operations:
            if operation == "value":
                yield from (Reading("value", (cell,)) for row in first for cell in self._of_row[row])
            elif operation in LISTED:
                yield from self._lists(operation, first)
            else:
                yield from self._pairs(operation, first[:_FIRST_ROWS], second)

    def _pairs(self, operation: Operation, first: Sequence[int], second: Sequence[int]) -> Iterator[Reading]:
        for row in first:
            own = self._of_row[row]
            if len(own) <= _MOST_PERIODS:
                yield from (Reading(operation, pair) for pair in itertools.permutations(own, 2))
            for other in second:
                if other != row:
                    pairs = itertools.chain(self._aligned((row, other)), self._nested(row, other))
                    yield from (Reading(operation, pair) for pair in pairs)

    def _lists(self, operation: Operation, first: Sequence[int]) -> Iterator[Reading]:
        for row in first[:_FIRST_ROWS]:
            own = self._of_row[row]
            for cells in self._of_periods(own):
                if 1 < len(cells) <= _MOST_PERIODS:
                    yield Reading(operation, tuple(cells))
        ranked: list[int] = np.argsort(-self._odds.listed)[:_LISTED_ROWS].tolist()
        lists = [ranked[:size] for size in range(3, len(ranked) + 1)]
        for chosen in (*itertools.combinations(ranked[:_PAIRED_ROWS], 2), *lists):
            yield from (Reading(operation, cells) for cells in self._aligned(sorted(chosen)))

    def _of_periods(self, cells: Sequence[int]) -> Iterator[Sequence[int]]:
        """Cells of one row that may be taken together: those of the periods that the question names, or all from the
        first to the last of these, if it names several and the row has each; else also the whole row."""
        usual = self._columns.usual[list(cells)]
        if self._columns.named > 1 and len(cells) and usual.any(axis=0).all():
            named = [cells[place] for place in np.flatnonzero(usual.any(axis=1)).tolist()]
            yield from (named, self._between(cells, named))
            return
        fitting = [cell for cell in cells if self._fit[cell] >= NAMED]
        yield from (cells, fitting, self._between(cells, fitting), self._latest(cells))

    def _between(self, cells: Sequence[int], bounds: Sequence[int]) -> list[int]:
        """The cells from the first to the last period of those in ``bounds``."""
        dated = [(self._rows.cells[cell].item.period_end, cell) for cell in cells]
        ends = [end for end, cell in dated if end is not None and cell in bounds]
        return [cell for end, cell in dated if end is not None and ends and min(ends) <= end <= max(ends)]

    def _latest(self, cells: Sequence[int]) -> list[int]:
        """The cells of as many last periods as the question counts: "over the last three years"."""
        dated = [(end, cell) for cell in cells if (end := self._rows.cells[cell].item.period_end) is not None]
        return [cell for _, cell in sorted(dated)[-self._years :]] if self._years else []

    def _aligned(self, rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """One cell of each row: all of one period, of one column of a table, or two of a printed row."""
        yield from self._sharing(rows, self._period_of)
        if len({self._rows.series[row].table for row in rows}) == 1:
            yield from self._sharing(rows, self._column_of)
        if len(rows) == 2 and len({self._rows.series[row].first.row for row in rows}) == 1:
            cells = [self._of_row[row] for row in rows]
            if max(map(len, cells)) <= _MOST_SPLIT:
                yield from itertools.product(*cells)

    def _nested(self, row: int, other: int) -> Iterator[tuple[int, int]]:
        """Cells of one label, in different tables, whose periods end together: six months and their last three."""
        labels = {self._rows.series[each].first.item.label.casefold() for each in (row, other)}
        if len(labels) > 1:
            return
        for cell, within in itertools.product(self._of_row[row], self._of_row[other]):
            one, two = self._rows.cells[cell].item, self._rows.cells[within].item
            if one.months and two.months and one.months != two.months and one.period_end == two.period_end is not None:
                yield cell, within

    def _sharing(self, rows: Sequence[int], key_of: Callable[[int], object]) -> Iterator[tuple[int, ...]]:
        """One cell of each row, all with the same key."""
        columns: list[dict[object, int]] = []
        for row in rows:
            own: dict[object, int] = {}
            for cell in self._of_row[row]:
                own.setdefault(key_of(cell), cell)
            columns.append(own)
        for key in columns[0]:
            if all(key in own for own in columns):
                yield tuple(own[key] for own in columns)

    def _period_of(self, cell: int) -> object:
        item = self._rows.cells[cell].item
        return (item.period_end, item.months) if item.period_end is not None else item.column

    def _column_of(self, cell: int) -> object:
        return self._rows.cells[cell].item.column

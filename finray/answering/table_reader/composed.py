"""Readings of operations on sums, differences, shares and products of rows: "by how much did its margin move"."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from finray.answering.table_reader.odds import Odds
from finray.answering.table_reader.operations import COMPOSED, OF_SUMS, OF_TWO_PERIODS, WITH_SUM, Composed, Reading
from finray.core.filing import LineItem

Aligned = Callable[[Sequence[int]], Iterable[tuple[int, ...]]]
"""Finds the cells of rows that stand beside one another: in one period, or in one column."""
Cells = tuple[int, ...]
_FIRST_ROWS, _SECOND_ROWS, _SUMMED_ROWS = 3, 4, 5
_SUMMED = (2, 3, 4)
"""Numbers of rows that are added up."""
_MOST_AVERAGED = 3


def composed_readings(odds: Odds, items: Sequence[LineItem], aligned: Aligned) -> Iterator[Reading]:
    """Readings of the likeliest rows; ``items`` are those of the shortlist's cells."""
    rows = _Rows(odds, aligned)
    for operation in COMPOSED:
        if operation in odds.operations:
            for columns in _columns(operation, rows):
                yield from (Reading(operation, cells) for cells in _cells(operation, columns, items))


def _columns(operation: Composed, rows: _Rows) -> Iterator[list[Cells]]:
    """The columns of each set of rows that ``operation`` may take."""
    if operation in OF_SUMS:
        return rows.sums()
    if operation in WITH_SUM:
        return rows.sums_with_second()
    if operation in ("part_share", "net"):
        return rows.first_with_others(1 if operation == "part_share" else 2)
    return rows.pairs()


def _cells(operation: Composed, columns: list[Cells], items: Sequence[LineItem]) -> Iterable[Cells]:
    if operation in OF_TWO_PERIODS or operation in OF_SUMS:
        return _changes(columns, items)
    return _latest(columns, items) if operation == "share_average" else columns


class _Rows:
    """Sets of rows that may be computed with one another, as columns: the cells of each period or printed column."""

    def __init__(self, odds: Odds, aligned: Aligned) -> None:
        self._aligned = aligned
        self._first: list[int] = np.argsort(-odds.first)[:_FIRST_ROWS].tolist()
        self._second: list[int] = np.argsort(-odds.second)[:_SECOND_ROWS].tolist()
        self._summed: list[int] = sorted(np.argsort(-odds.listed)[:_SUMMED_ROWS].tolist())

    def pairs(self) -> Iterator[list[Cells]]:
        """A first operand and a second one."""
        for first, second in itertools.product(self._first, self._second):
            if first != second:
                yield self._beside((first, second))

    def sums(self) -> Iterator[list[Cells]]:
        """Rows that are added up."""
        for rows in self._lists():
            yield self._beside(rows)

    def sums_with_second(self) -> Iterator[list[Cells]]:
        """Rows that are added up, then the second operand."""
        for parts, whole in itertools.product(self._lists(), self._second):
            if whole not in parts:
                yield self._beside([*parts, whole])

    def first_with_others(self, fewest: int) -> Iterator[list[Cells]]:
        """A first operand, then at least ``fewest`` others of the sum."""
        for first in self._first:
            rest = [row for row in self._summed if row != first]
            for size in range(fewest, max(_SUMMED)):
                for others in itertools.combinations(rest, size):
                    yield self._beside([first, *others])

    def _beside(self, rows: Sequence[int]) -> list[Cells]:
        return [*dict.fromkeys(self._aligned(rows))]  # a column is often a period

    def _lists(self) -> Iterator[tuple[int, ...]]:
        for size in _SUMMED:
            yield from itertools.combinations(self._summed, size)


def _changes(columns: Sequence[Cells], items: Sequence[LineItem]) -> Iterator[Cells]:
    """The cells of a later period, then those of an earlier one of the same length."""
    for later, earlier in itertools.permutations(columns, 2):
        now, then = items[later[0]], items[earlier[0]]
        if now.period_end is None or then.period_end is None or now.months != then.months:
            continue
        if now.period_end > then.period_end:
            yield (*later, *earlier)


def _latest(columns: Sequence[Cells], items: Sequence[LineItem]) -> Iterator[Cells]:
    """The cells of the last two and three periods of one length."""
    dated = [(end, cells) for cells in columns if (end := items[cells[0]].period_end) is not None]
    by_length: dict[int | None, list[Cells]] = {}
    for _, cells in sorted(dated, key=lambda each: each[0]):
        by_length.setdefault(items[cells[0]].months, []).append(cells)
    for ordered in by_length.values():
        for count in range(2, min(len(ordered), _MOST_AVERAGED) + 1):
            yield tuple(itertools.chain(*ordered[-count:]))

"""Readings of operations on sums, differences, shares and products of rows: "by how much did its margin move"."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from finray.answering.table_reader.odds import Odds
from finray.answering.table_reader.operations import COMPOSED, Composed, Reading
from finray.core.filing import LineItem

Aligned = Callable[[Sequence[int]], Iterable[tuple[int, ...]]]
"""The cells of rows that stand beside one another: in one period, or in one column."""
Cells = tuple[int, ...]
_FIRST_ROWS, _SECOND_ROWS, _SUMMED_ROWS = 3, 4, 5
_SUMMED = (2, 3, 4)
"""Rows that are added up."""
_MOST_AVERAGED = 3
_CHANGES: Final = frozenset({"share_change", "gap_change", "gap_growth", "change_share"})
_OF_SUMS: Final = frozenset({"sum_change", "sum_growth"})
_WITH_SUM: Final = frozenset({"sum_share", "sum_ratio", "sum_less"})


def composed_readings(odds: Odds, items: Sequence[LineItem], aligned: Aligned) -> Iterator[Reading]:
    """Of the likeliest rows; ``items`` are those of the shortlist's cells."""
    rows = _Rows(odds, aligned)
    for operation in COMPOSED:
        if operation in odds.operations:
            yield from (Reading(operation, cells) for cells in _cells(operation, rows, items))


def _cells(operation: Composed, rows: _Rows, items: Sequence[LineItem]) -> Iterator[Cells]:
    if operation in _CHANGES:
        yield from itertools.chain.from_iterable(_changes(own, items) for own in rows.pairs())
    elif operation in _OF_SUMS:
        yield from itertools.chain.from_iterable(_changes(own, items) for own in rows.sums())
    elif operation == "share_average":
        yield from itertools.chain.from_iterable(_latest(own, items) for own in rows.pairs())
    elif operation in _WITH_SUM:
        yield from itertools.chain.from_iterable(rows.sums_with_second())
    elif operation in ("part_share", "net"):
        yield from itertools.chain.from_iterable(rows.first_with_others(1 if operation == "part_share" else 2))
    else:
        yield from itertools.chain.from_iterable(rows.pairs())


class _Rows:
    """Rows that stand together in a computation, as the cells of each period or column."""

    def __init__(self, odds: Odds, aligned: Aligned) -> None:
        self._aligned = aligned
        self._first: list[int] = np.argsort(-odds.first)[:_FIRST_ROWS].tolist()
        self._second: list[int] = np.argsort(-odds.second)[:_SECOND_ROWS].tolist()
        self._summed: list[int] = sorted(np.argsort(-odds.listed)[:_SUMMED_ROWS].tolist())

    def pairs(self) -> Iterator[list[Cells]]:
        """A first operand and a second one."""
        for rows in itertools.product(self._first, self._second):
            if rows[0] != rows[1]:
                yield self._beside(rows)

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
        dated = now.period_end is not None and then.period_end is not None and now.months == then.months
        if dated and str(now.period_end) > str(then.period_end):
            yield (*later, *earlier)


def _latest(columns: Sequence[Cells], items: Sequence[LineItem]) -> Iterator[Cells]:
    """The cells of the last two and three periods of one length."""
    dated = [(item.period_end, item.months, cells) for cells in columns if (item := items[cells[0]]).period_end]
    for months in {months for _, months, _ in dated}:
        ordered = [cells for _, length, cells in sorted(dated, key=lambda each: str(each[0])) if length == months]
        for count in range(2, min(len(ordered), _MOST_AVERAGED) + 1):
            yield tuple(itertools.chain(*ordered[-count:]))

"""The rows of all tables on the retrieved pages that a question may mean: those that agree best with its words, and
those that look-ups found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from finray.answering.cells.cell_features import described_cells
from finray.answering.cells.page_cells import PageCell
from finray.answering.table_reader.row_words import meanings, row_features, shipped_row_words
from finray.answering.table_reader.series import Series, numbered_series
from finray.core.arrays import Floats
from finray.core.filing import Filing, LineItem
from finray.core.plan import Found
from finray.core.query import Query
from finray.index.reading.facts import FilingFacts


@dataclass(frozen=True, slots=True)
class Rows:
    """All ``series`` of some pages with their ``features``, float64 [len(series), those of row_words], and the numbers
    of their cells (``numbers``); ``cells`` are in reading order, with ``of_cells``, float64 [len(cells), features of a
    cell]. ``unprinted`` is the share of the question's words that no cell has."""

    series: tuple[Series, ...]
    numbers: tuple[tuple[int, ...], ...]
    features: Floats
    cells: tuple[PageCell, ...]
    of_cells: Floats
    unprinted: float


@dataclass(frozen=True, slots=True)
class Shortlist:
    """``series``, the best first, with the ``scores`` of their words, float64 [len(series)]; their ``cells`` with
    ``features``, float64 [len(cells), features of a cell], and ``owner``, the number of each cell's series."""

    series: tuple[Series, ...]
    scores: Floats
    cells: tuple[PageCell, ...]
    features: Floats
    owner: tuple[int, ...]


def rows_of(query: Query, cells: Sequence[PageCell], facts: FilingFacts) -> Rows:
    """The rows of ``cells``."""
    found = described_cells(query, tuple(cells), facts)
    numbered = numbered_series(found.cells, facts)
    numbers, series = tuple(numbers for numbers, _ in numbered), tuple(series for _, series in numbered)
    features = row_features(found.features, numbers, meanings(query, series))
    return Rows(series, numbers, features, found.cells, found.features, found.unprinted)


def shortlist(rows: Rows, size: int, looked_up: Sequence[Found] = ()) -> Shortlist:
    """The ``size`` best rows, then others with a cell that is ``looked_up``."""
    scores = rows.features @ shipped_row_words()
    ranked = np.argsort(-scores, kind="stable").tolist()
    wanted = {_place(each.filing, each.line_item) for each in looked_up}
    further = [
        number
        for number in ranked[size:]
        if any(_place(cell.filing, cell.item) in wanted for cell in rows.series[number].cells)
    ]
    order = [*ranked[:size], *further]
    at = [cell for number in order for cell in rows.numbers[number]]
    return Shortlist(
        tuple(rows.series[number] for number in order),
        scores[order],
        tuple(rows.cells[cell] for cell in at),
        rows.of_cells[at],
        tuple(owner for owner, number in enumerate(order) for _ in rows.numbers[number]),
    )


def _place(filing: Filing, item: LineItem) -> tuple[str, int, int, int]:
    return filing.filing_id, item.page, item.row, item.column

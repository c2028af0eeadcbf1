"""The rows that may be meant, of all tables on the retrieved pages: those with most of the question's words, and those
that look-ups found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from finray.answering.cells.cell_features import described_cells
from finray.answering.cells.page_cells import PageCell
from finray.answering.table_reader.row_words import meanings, row_features, shipped_row_words
from finray.answering.table_reader.series import Series, series_of
from finray.core.arrays import Floats
from finray.core.filing import LineItem
from finray.core.plan import Found
from finray.core.query import Query
from finray.index.reading.facts import FilingFacts


@dataclass(frozen=True, slots=True)
class Rows:
    """All ``series`` of some pages with their ``features``, float64 [len(series), those of row_words]; ``cells`` are in
    reading order, with ``of_cells``, float64 [len(cells), features of a cell]. ``unprinted`` is the share of the
    question's words that no cell has."""

    series: tuple[Series, ...]
    features: Floats
    cells: tuple[PageCell, ...]
    of_cells: Floats
    unprinted: float


@dataclass(frozen=True, slots=True)
class Shortlist:
    """``series``, the best first, with ``scores``, float64 [len(series)], of their words; ``cells`` [sum of the series'
    cells] with ``features``, float64 [len(cells), features of a cell], and ``owner``, the number of each cell's
    series."""

    series: tuple[Series, ...]
    scores: Floats
    cells: tuple[PageCell, ...]
    features: Floats
    owner: tuple[int, ...]
    unprinted: float


def rows_of(query: Query, cells: Sequence[PageCell], facts: FilingFacts) -> Rows:
    """The rows of ``cells``."""
    found = described_cells(query, tuple(cells), facts)
    place = {id(cell): number for number, cell in enumerate(found.cells)}
    series = tuple(series_of(found.cells))
    numbers = [[place[id(cell)] for cell in row.cells] for row in series]
    features = row_features(found.features, numbers, meanings(query, series))
    return Rows(series, features, found.cells, found.features, found.unprinted)


def shortlist(rows: Rows, size: int, looked_up: Sequence[Found] = (), weights: Floats | None = None) -> Shortlist:
    """At most ``size`` rows, then those with a cell that is ``looked_up``. ``weights`` are by default those that come
    with finray."""
    scores = rows.features @ (shipped_row_words() if weights is None else weights)
    ranked = np.argsort(-scores, kind="stable").tolist()
    wanted = {(each.filing.filing_id, *_place(each.line_item)) for each in looked_up}
    further = [
        number
        for number in ranked[size:]
        if any((cell.filing.filing_id, *_place(cell.item)) in wanted for cell in rows.series[number].cells)
    ]
    order = [*ranked[:size], *further]
    kept = tuple(rows.series[number] for number in order)
    place = {id(cell): number for number, cell in enumerate(rows.cells)}
    owned = [(number, place[id(cell)]) for number, row in enumerate(kept) for cell in row.cells]
    at = [cell for _, cell in owned]
    return Shortlist(
        kept,
        scores[order],
        tuple(rows.cells[number] for number in at),
        rows.of_cells[at],
        tuple(number for number, _ in owned),
        rows.unprinted,
    )


def _place(item: LineItem) -> tuple[int, int, int]:
    return item.page, item.row, item.column

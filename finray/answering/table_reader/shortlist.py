"""The rows that may be meant, of all tables on the retrieved pages: those with most of the question's words, and those
that look-ups found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from finray.answering.cell_choice import shipped_cell_model
from finray.answering.cell_features import FEATURES, described_cells
from finray.answering.page_cells import PageCell
from finray.answering.sentence_features import Floats
from finray.answering.table_reader.series import Series, series_of
from finray.core.plan import Found
from finray.core.query import Query
from finray.core.types import LineItem
from finray.index.facts import FilingFacts

_WORD_FEATURES: Final = (
    "row", "column", "section", "caption", "heading", "cover", "best_row", "best_cover", "surplus", "surplus_column",
    "surplus_section", "part", "fit", "best_fit", "figures", "other_figures", "total", "statement", "named_statement",
    "first_page", "page", "other_filing",
)  # fmt: skip
"""What of a cell's features depends on its row, not on its period or on the unit asked for."""


@dataclass(frozen=True, slots=True)
class Shortlist:
    """``series``, the best first, with ``scores``, float64 [len(series)], of their words; ``cells`` [sum of the series'
    cells] with ``features``, float64 [len(cells), len(FEATURES)], and ``owner``, the number of each cell's series."""

    series: tuple[Series, ...]
    scores: Floats
    cells: tuple[PageCell, ...]
    features: Floats
    owner: tuple[int, ...]
    unprinted: float


def shortlist(
    query: Query, cells: Sequence[PageCell], facts: FilingFacts, size: int, looked_up: Sequence[Found] = ()
) -> Shortlist:
    """At most ``size`` series of ``cells``, then those with a cell that is ``looked_up``."""
    found = described_cells(query, tuple(cells), facts)
    columns = [list(FEATURES).index(name) for name in _WORD_FEATURES]
    scores = found.features[:, columns] @ shipped_cell_model().weights[columns] if cells else np.zeros(0)
    place = {id(cell): number for number, cell in enumerate(found.cells)}
    rows = series_of(found.cells)
    best = [max(scores[place[id(cell)]] for cell in row.cells) for row in rows]
    ranked = sorted(range(len(rows)), key=lambda number: (-best[number], number))
    wanted = {(each.filing.filing_id, *_place(each.line_item)) for each in looked_up}
    further = [n for n in ranked[size:] if any((c.filing.filing_id, *_place(c.item)) in wanted for c in rows[n].cells)]
    order = [*ranked[:size], *further]
    kept = tuple(rows[number] for number in order)
    owned = [(number, place[id(cell)]) for number, row in enumerate(kept) for cell in row.cells]
    at = [cell for _, cell in owned]
    return Shortlist(
        kept,
        np.asarray([best[number] for number in order]),
        tuple(found.cells[number] for number in at),
        found.features[at],
        tuple(number for number, _ in owned),
        found.unprinted,
    )


def _place(item: LineItem) -> tuple[int, int, int]:
    return item.page, item.row, item.column

"""The rows that may be meant, of all tables on the retrieved pages: those with most of the question's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from finray.answering.cell_choice import shipped_cell_model
from finray.answering.cell_features import FEATURES, described_cells
from finray.answering.page_cells import PageCell
from finray.answering.sentence_features import Floats
from finray.answering.table_reader.series import Series, series_of
from finray.core.query import Query
from finray.index.facts import FilingFacts

_WORD_FEATURES: Final = (
    "row", "column", "section", "caption", "heading", "cover", "best_row", "best_cover", "surplus", "surplus_column",
    "surplus_section", "part", "fit", "best_fit", "figures", "other_figures", "total", "statement", "named_statement",
    "first_page", "page", "other_filing",
)  # fmt: skip
"""What of a cell's features depends on its row, not on its period or on the unit asked for."""


_TOTAL: Final = re.compile(r"\b(?:total|consolidated)\b", re.I)
_OF_FIRST, _TOTALS = 6, 4
"""Totals of the tables of the first rows are read as well, at most so many."""


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


def shortlist(query: Query, cells: Sequence[PageCell], facts: FilingFacts, size: int) -> Shortlist:
    """At most ``size`` series of ``cells``, then totals of the first ones' tables: a share's denominator shares few
    words with the question."""
    found = described_cells(query, tuple(cells), facts)
    columns = [list(FEATURES).index(name) for name in _WORD_FEATURES]
    scores = found.features[:, columns] @ shipped_cell_model().weights[columns] if cells else np.zeros(0)
    place = {id(cell): number for number, cell in enumerate(found.cells)}
    rows = series_of(found.cells)
    best = [max(scores[place[id(cell)]] for cell in row.cells) for row in rows]
    ranked = sorted(range(len(rows)), key=lambda number: (-best[number], number))
    order = [*ranked[:size], *_totals(ranked, rows, size)]
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


def _totals(ranked: Sequence[int], rows: Sequence[Series], size: int) -> list[int]:
    """Those not among the first ``size``, the best first."""
    tables = {rows[number].table for number in ranked[:_OF_FIRST]}
    return [
        number
        for number in ranked[size:]
        if rows[number].table in tables
        and _TOTAL.search(f"{rows[number].first.item.label} {rows[number].first.item.column_label or ''}")
    ][:_TOTALS]

"""Features of readings that are averages over their cells, computed for all readings of one number of cells at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from finray.answering.cells.cell_features import FEATURES as CELL_FEATURES
from finray.answering.table_reader.looked_up import Matches
from finray.answering.table_reader.odds import Odds
from finray.answering.table_reader.operations import Reading, is_pair
from finray.answering.table_reader.shortlist import Shortlist
from finray.core.arrays import Floats

_OF_WORDS: Final = ("operand", "operand_least", "matched", "matched_best", "held", "spare")
OF_CELLS: Final = (
    "cover", "best_cover", "surplus", "surplus_column", "part", "fit", "bare", "opens", "closes", "total", "undated",
    "year", "other_year", "plain", "unasked_percent", "statement", "named_statement", "first_page", "page",
    "other_filing", "change", "figures", "other_figures",
)  # fmt: skip
"""Features of cells, averaged as they are."""
AVERAGED: Final = (*_OF_WORDS, *OF_CELLS)
_CELL_COLUMNS: Final = [list(CELL_FEATURES).index(name) for name in OF_CELLS]


def averaged(readings: Sequence[Reading], rows: Shortlist, odds: Odds, matches: Matches) -> Floats:
    """float64 [len(readings), len(AVERAGED)]."""
    result = np.zeros((len(readings), len(AVERAGED)))
    by_size: dict[int, list[int]] = {}
    for number, reading in enumerate(readings):
        by_size.setdefault(len(reading.cells), []).append(number)
    of_cells, owner = rows.features[:, _CELL_COLUMNS], np.asarray(rows.owner)
    for size, numbers in by_size.items():
        at = np.asarray([readings[number].cells for number in numbers])
        owners = owner[at]
        operand = odds.operand[owners]
        result[numbers, 0], result[numbers, 1] = operand.mean(axis=1), operand.min(axis=1)
        quantities = matches.words.shape[1]
        if quantities:
            pairs = np.asarray([is_pair(readings[number].operation, size) for number in numbers])
            in_order = pairs & (owners[:, 0] != owners[:, -1]) & (quantities == size)
            result[numbers, 2 : len(_OF_WORDS)] = _agreement(at, in_order, matches)
        result[numbers, len(_OF_WORDS) :] = of_cells[at].mean(axis=1)
    return result


def _agreement(at: npt.NDArray[np.intp], in_order: npt.NDArray[np.bool_], known: Matches) -> Floats:
    """How well the cells ``at`` [readings, cells] match the words of the question's quantities, float64 [readings, 4]:
    two rows ``in_order`` [readings] each with their own quantity, other cells with the one that they match best."""
    own = np.where(in_order[:, None], np.arange(at.shape[1]), known.words[at].argmax(axis=2))
    words, best = known.words[at, own], known.words.max(axis=0, initial=0.0)[own]
    parts = (words, words - best, known.held[at, own], known.spare[at, own])
    return np.stack([part.mean(axis=1) for part in parts], axis=1)

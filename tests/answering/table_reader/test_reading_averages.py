"""Averages of all readings at once are those of each reading, to the last digit."""

from __future__ import annotations

import numpy as np

from finray.answering.cells.cell_features import FEATURES as CELL_FEATURES
from finray.answering.table_reader.looked_up import Matches
from finray.answering.table_reader.odds import Odds
from finray.answering.table_reader.operations import Reading
from finray.answering.table_reader.reading_averages import AVERAGED, OF_CELLS, averaged
from finray.answering.table_reader.shortlist import Shortlist
from tests.answering.table_reader.scores import FakeRowReader

OWNER = (0, 0, 1, 2)
READINGS = (Reading("value", (3,)), Reading("ratio", (0, 2)), Reading("growth", (0, 1)), Reading("sum", (0, 2, 3)))
WORDS = np.asarray([[0.1, 0.9], [0.2, 0.3], [0.7, 0.4], [0.6, 0.5]])
COLUMNS = [list(CELL_FEATURES).index(name) for name in OF_CELLS]


def _averaged(words: np.ndarray) -> tuple[np.ndarray, Shortlist, Odds]:
    of_cells = np.random.default_rng(1).normal(size=(len(OWNER), len(CELL_FEATURES)))
    rows = Shortlist((), np.zeros(3), (), of_cells, OWNER)
    odds = Odds.of(FakeRowReader("ratio", "tea", "milk").rows("", ["tea", "milk", "juice"]))
    matches = Matches(words, words / 2, words / 4, (-1,) * len(OWNER))
    return averaged(READINGS, rows, odds, matches), rows, odds


def test_they_are_those_of_each_reading_alone() -> None:
    found, rows, odds = _averaged(WORDS)
    for values, reading in zip(found, READINGS, strict=True):
        at = list(reading.cells)
        operand = odds.operand[[OWNER[cell] for cell in at]]
        assert values[:2].tolist() == [operand.mean(), operand.min()]
        assert values[-len(OF_CELLS) :].tolist() == rows.features[np.ix_(at, COLUMNS)].mean(axis=0).tolist()


def test_two_rows_in_order_have_a_quantity_each() -> None:
    found, _, _ = _averaged(WORDS)
    matched = found[:, AVERAGED.index("matched")].tolist()
    # The ratio takes the first quantity for its first row; other cells have the quantity that they match best.
    assert matched == [0.6, np.mean([0.1, 0.4]), np.mean([0.9, 0.3]), np.mean([0.9, 0.7, 0.6])]


def test_without_quantities_nothing_matches() -> None:
    found, _, _ = _averaged(np.zeros((len(OWNER), 0)))
    assert not found[:, AVERAGED.index("matched") : AVERAGED.index("spare") + 1].any()

"""The weights that rank rows, and the features that they weigh."""

from __future__ import annotations

import json

import numpy as np
import pytest

from finray.answering.cells.cell_features import FEATURES as CELL_FEATURES
from finray.answering.cells.page_cells import PageCells
from finray.answering.choice_model import linear_json, read_linear
from finray.answering.table_reader.row_words import FEATURES, meanings, row_features
from finray.answering.table_reader.series import series_of
from finray.core.errors import ModelUnavailableError
from finray.core.query import Query
from tests.answering.made_up_cells import facts, item, passage


def test_a_row_has_the_best_of_its_periods() -> None:
    names = list(CELL_FEATURES)
    of_cells = np.zeros((3, len(names)))
    of_cells[1, names.index("end")] = 1.0
    of_cells[2, names.index("cover")] = 0.5
    features = row_features(of_cells, [[0, 1], [2]], np.zeros((2, 3)))
    column = {name: at for at, name in enumerate(FEATURES)}
    assert features[:, column["end"]].tolist() == [1.0, 0.0]
    assert features[:, column["cover"]].tolist() == [0.0, 0.5]


def test_a_row_without_the_words_of_the_question_may_mean_the_same() -> None:
    rows = [
        item(3, number, label, float(number))
        for number, label in enumerate(("Repayments of borrowings", "Deferred income taxes"), 1)
    ]
    series = series_of(PageCells(facts(rows)).read([passage(3)]))
    text = "How much debt was paid back?"
    repaid, taxes = meanings(Query(text, text, quantities=("debt paid back",)), series)
    assert repaid[0] > taxes[0]
    assert repaid[1] == 0.0
    assert meanings(Query(text, text), ()).shape == (0, 3)


def test_weights_are_read_as_they_were_written() -> None:
    weights = np.linspace(-1, 1, len(FEATURES))
    read = read_linear(linear_json(weights, FEATURES, {"questions": 1}), "x", "rows", FEATURES)
    assert read == pytest.approx(weights, abs=1e-4)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weights": {"cover": "x"}}', json.dumps({"weights": {"cover": 1}})])
def test_another_file_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ModelUnavailableError, match=r"^x has .*fit it again$"):
        read_linear(text, "x", "rows", FEATURES)

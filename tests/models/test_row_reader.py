"""The row reader: scores of rows, what it reads from the question, texts of any length."""

from __future__ import annotations

import numpy as np
import pytest

from finray.core.errors import ModelUnavailableError
from finray.models.bert.weights import shipped_weights
from finray.models.row_reader import MEASURES, OPERATIONS, WEIGHTS, RowReader, row_reader

QUESTION = "How much did Acme pay for variable leases in 2022?"
ROWS = (
    "Variable lease costs | Lease cost | amount",
    "Inventories | Raw materials | amount",
    "Risk-free rate | percent",
)


def test_the_row_that_is_asked_for_scores_highest() -> None:
    scores = row_reader().rows(QUESTION, ROWS)
    assert scores.first.shape == scores.second.shape == scores.listed.shape == (3,)
    assert int(scores.first.argmax()) == 0
    assert OPERATIONS[int(scores.operations.argmax())] == "value"
    assert np.exp(scores.operations).sum() == pytest.approx(1.0)


def test_the_operation_is_read_from_the_question() -> None:
    scores = row_reader().rows("By what percentage did variable lease costs rise from 2021 to 2022?", ROWS)
    assert OPERATIONS[int(scores.operations.argmax())] == "growth"


@pytest.mark.parametrize(
    ("question", "measure"),
    [
        ("What interest rate did Acme pay on its notes due 2031?", "percent"),
        ("How much did Acme spend on research in 2022?", "money"),
        ("What did Acme earn per diluted share in 2022?", "per share"),
    ],
)
def test_the_measure_is_read_from_the_question(question: str, measure: str) -> None:
    measures = row_reader().rows(question, ROWS).measures
    assert MEASURES[int(measures.argmax())] == measure
    assert np.exp(measures).sum() == pytest.approx(1.0)


def test_a_fall_counts_backwards_more_than_a_rise() -> None:
    fall, rise = (
        row_reader().rows(f"By how many dollars did Acme's debt {move} between 2021 and 2022?", ROWS).backwards
        for move in ("come down", "grow")
    )
    assert fall > rise


def test_absent_operands_lower_the_odds() -> None:
    there, gone = row_reader().rows(QUESTION, ROWS), row_reader().rows(QUESTION, ROWS[1:])
    assert there.present > gone.present
    assert there.operand[0] > max(there.operand[1:])
    assert there.operand[0] > max(gone.operand)


def test_scores_follow_their_rows_in_any_order() -> None:
    forwards, backwards = row_reader().rows(QUESTION, ROWS), row_reader().rows(QUESTION, ROWS[::-1])
    assert np.allclose(forwards.first, backwards.first[::-1], atol=1e-3)
    assert np.allclose(forwards.listed, backwards.listed[::-1], atol=1e-3)


def test_texts_of_any_length_are_read() -> None:
    assert row_reader().rows("why " * 500, ["word " * 500, ""]).first.shape == (2,)


def test_weights_of_another_version_are_refused() -> None:
    state = dict(shipped_weights(WEIGHTS))
    del state["ops.weight"]
    with pytest.raises(ModelUnavailableError, match=r"another version: they lack \['ops\.weight'\]"):
        RowReader(state)


def test_weights_of_another_shape_are_refused() -> None:
    state = shipped_weights(WEIGHTS) | {"narrow.bias": np.zeros(7, dtype=np.float32)}
    with pytest.raises(ModelUnavailableError, match=r"narrow\.bias is \[7\] instead of \[192\]"):
        RowReader(state)

"""What parentheses around a figure mean, by the row."""

from __future__ import annotations

import dataclasses
import datetime as dt

import pytest

from finray.answering.cells.printed_sign import (
    SignedRow,
    SignModel,
    is_deducted,
    read_sign_model,
    shipped_sign_model,
    sign_features,
    sign_model_json,
)
from finray.answering.table_reader.amounts import amount_of
from finray.core.errors import ModelUnavailableError
from finray.core.filing import LineItem, Statement

ITEM = LineItem(
    page=3, statement=None, label="", value=-52e6, text="(52)", unit="USD", scale=10**6,
    period_end=dt.date(2022, 12, 31), months=0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("label", "statement", "months", "shown"),
    [
        ("Less: allowance for credit losses", None, 0, 52e6),
        ("Payments of long-term debt", "cash_flow", 12, 52e6),
        ("Accumulated depreciation", "balance", 0, 52e6),
        ("Net loss", "income", 12, -52e6),
        ("Accumulated other comprehensive loss", "balance", 0, -52e6),
        ("Net cash used in investing activities", "cash_flow", 12, -52e6),
    ],
)
def test_an_amount_that_is_deducted_is_positive_and_a_loss_is_not(
    label: str, statement: Statement | None, months: int, shown: float
) -> None:
    item = dataclasses.replace(ITEM, label=label, statement=statement, months=months)
    assert amount_of(item) == shown
    assert amount_of(dataclasses.replace(item, value=52e6, text="52")) == 52e6


@pytest.mark.parametrize(
    ("label", "months", "asked", "shown"),
    [
        ("Balance as of June 30", 0, "allowance for uncollectible accounts", 52e6),
        ("Balance, ending", 0, "gross unrecognized tax benefits", 52e6),
        ("Balance as of June 30", 0, "accumulated other comprehensive loss", -52e6),
        ("Net income (loss)", 12, "net income", -52e6),
        ("Operating income (loss)", 12, "operating income of Asia", -52e6),
    ],
)
def test_what_is_asked_for_tells_the_sign_of_a_row_that_does_not(
    label: str, months: int, asked: str, shown: float
) -> None:
    item = dataclasses.replace(ITEM, label=label, months=months)
    assert amount_of(item, asked=asked) == shown
    assert amount_of(item) == -52e6


def test_numbers_in_a_label_are_no_words_and_unknown_words_count_for_nothing() -> None:
    row = SignedRow("Balance at December 31, 2022", "equity", True, False)
    names = sign_features(row)
    assert not any(name.removeprefix("word ").isdecimal() for name in names)
    model = SignModel({"constant": 1.0})
    assert model.probability(row) == model.probability(SignedRow("xyzzy", None, False, False))


def test_the_file_is_read_as_it_was_written() -> None:
    model = SignModel({"constant": 0.25, "word less": 1.5})
    assert read_sign_model(sign_model_json(model, {"rows": 2})) == model
    assert "constant" in shipped_sign_model().weights
    with pytest.raises(ModelUnavailableError, match="fit it again"):
        read_sign_model('{"weights": [1]}')


def test_any_label_has_a_sign() -> None:
    for label in ("", "(", "—", "é" * 5_000):
        assert is_deducted(SignedRow(label, None, False, False)) in (True, False)

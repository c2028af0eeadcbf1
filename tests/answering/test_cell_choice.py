"""The choice of one cell for a question that no plan answers, and its refusal if none is sure."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from finray.answering.cell_answerer import CellAnswerer
from finray.answering.cell_choice import SIGNALS, CellModel, read_cell_model, shipped_cell_model
from finray.answering.cell_features import FEATURES, cell_candidates, short_forms
from finray.answering.choice_model import Fitted, fitted_json
from finray.answering.page_cells import PageCells
from finray.core.errors import ModelUnavailableError
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.query import Query
from finray.core.roles import Curation
from finray.core.types import Answer, LineItem
from tests.answering.made_up_cells import BEFORE, END, ITEMS, facts, item, passage

EAGER = replace(shipped_cell_model(), threshold=0.0)
"""Chooses the best cell, however unsure."""


def _query(text: str, year: int | None = 2022, **changes: object) -> Query:
    periods = (Period(year, "FY"),) if year is not None else ()
    return replace(Query(text, text, ("acme",), periods=periods, names=("Acme",)), **changes)  # type: ignore[arg-type]


def _answer(query: Query, model: CellModel = EAGER, items: tuple[LineItem, ...] = ITEMS) -> Answer | None:
    curation = Curation((passage(3), passage(5)), answerable=True)
    return CellAnswerer(facts(items), model).answer(query, curation, Journal())


def _feature(query: Query, name: str, items: tuple[LineItem, ...] = ITEMS) -> dict[tuple[str, object], float]:
    """The feature of each cell, by label and period."""
    source = facts(items)
    found = cell_candidates(query, PageCells(source).read([passage(3), passage(5)]), source)
    column = list(FEATURES).index(name)
    return {(c.item.label, c.item.period_end): f[column] for c, f in zip(found.cells, found.features, strict=True)}


def test_row_title_and_period_name_the_cell() -> None:
    answer = _answer(_query("What capital spending does Acme show for North America Beverages in 2022?"))
    assert answer is not None
    assert (answer.status, answer.value, answer.unit) == ("answered", 904e6, "USD")
    assert "North America Beverages" in answer.text
    assert [(cell.page, cell.text) for cell in answer.operands] == [(3, "904")]
    assert answer.evidence[0].page == 3
    assert answer.grounded
    assert answer.confidence is not None


def test_the_year_asked_for_decides_between_columns() -> None:
    answer = _answer(_query("What capital spending does Acme show for North America Beverages in 2021?", 2021))
    assert answer is not None
    assert answer.value == 769e6


def test_no_cell_is_chosen_below_the_threshold() -> None:
    query = _query("What capital spending does Acme show for North America Beverages in 2022?")
    assert _answer(query, replace(EAGER, threshold=1.1)) is None


def test_a_question_that_shares_no_words_with_a_table_gets_no_figure() -> None:
    assert _answer(_query("How much rent did Acme pay for its headquarters in 2022?"), shipped_cell_model()) is None


def test_without_tables_there_is_no_choice() -> None:
    assert _answer(_query("What was capital spending?"), items=()) is None


def test_a_deduction_in_parentheses_is_a_positive_loss() -> None:
    answer = _answer(_query("What impairment losses did Acme book for the Rest of World in 2022?"))
    assert answer is not None
    assert answer.value == 787e6


def test_a_row_of_income_or_loss_keeps_its_sign() -> None:
    loss = item(3, 1, "Net income (loss)", -5e6, text="(5)", scale=10**6)
    answer = _answer(_query("What was the net income or loss of Acme in 2022?"), items=(loss,))
    assert answer is not None
    assert answer.value == -5e6


def test_one_part_is_not_the_total_that_is_asked_for() -> None:
    query = _query("What was total capital spending of North America Beverages in 2022?", intents=frozenset({"total"}))
    assert _answer(query) is None
    whole = (item(3, 1, "Total capital spending of North America Beverages", 904e6),)
    answer = _answer(query, items=whole)
    assert answer is not None
    assert answer.value == 904e6


@pytest.mark.parametrize(
    "changes",
    [{"operation": "share"}, {"operation": "value", "quantities": ("a", "b")}, {"intents": frozenset({"growth"})}],
)
def test_a_question_for_more_than_one_value_gets_no_cell(changes: dict[str, Any]) -> None:
    query = _query("What capital spending does Acme show for North America Beverages in 2022?", **changes)
    assert _answer(query) is None


def test_initials_stand_for_their_words() -> None:
    assert {"north", "america"} <= set(short_forms("spending of North America Beverages")["nab"])
    rows = (item(3, 1, "NAB", 904e6), item(3, 2, "FLNA", 665e6))
    shares = _feature(_query("What did Acme spend on North America Beverages in 2022?"), "row", rows)
    assert shares["NAB", END] > 0 == shares["FLNA", END]


def test_a_quarter_is_not_the_year_to_date() -> None:
    rows = (
        item(3, 1, "Net sales", 30, months=3),
        item(3, 1, "Net sales", 90, months=9, column=2, period_end=END),
    )
    source = facts(rows)
    query = replace(_query("What were net sales?"), periods=(Period(2022, None, END, 9),))
    found = cell_candidates(query, PageCells(source).read([passage(3)]), source)
    column = list(FEATURES).index("months")
    assert {c.item.months: f[column] for c, f in zip(found.cells, found.features, strict=True)} == {3: 0.0, 9: 1.0}


def test_the_period_of_a_cell_is_compared_with_that_of_the_question() -> None:
    ends = _feature(_query("What was capital spending of Frito Snacks?", 2021), "end")
    assert (ends["Frito Snacks", BEFORE], ends["Frito Snacks", END]) == (1.0, 0.0)


def test_a_model_of_another_version_is_an_error() -> None:
    content = json.loads(
        fitted_json(Fitted(EAGER.weights, EAGER.answers, {"threshold": EAGER.threshold}), FEATURES, SIGNALS, {})
    )
    assert read_cell_model(json.dumps(content), "x").threshold == 0.0
    del content["weights"]["row"]
    with pytest.raises(ModelUnavailableError, match=r"x is no model of cells.*row.*fit it again"):
        read_cell_model(json.dumps(content), "x")

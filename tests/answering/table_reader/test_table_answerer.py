"""Figures computed from rows that a model chose: operations, periods, units, names, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from finray.answering.table_reader.reading_choice import SIGNALS, ReadingModel
from finray.answering.table_reader.reading_features import FEATURES
from finray.answering.table_reader.table_answerer import TableAnswerer
from finray.core.filing import LineItem
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.predictions import Answer
from finray.core.query import AskedUnit, Query, Shape
from finray.core.roles import Curation
from tests.answering.made_up_cells import BEFORE, ITEMS, facts, item, passage
from tests.answering.table_reader.scores import FakeRowReader

_WEIGHTS = {
    "operation": 1.0, "first": 1.0, "second": 1.0, "listed": 1.0, "unlisted": 1.0, "period": 2.0, "periods": 2.0,
    "unnamed": -1.0, "backwards": -2.0, "order": 1.0, "same_page": 0.5, "misfit": -3.0, "several": 0.5,
}  # fmt: skip
MODEL = ReadingModel(np.asarray([_WEIGHTS.get(name, 0.0) for name in FEATURES]), np.zeros(len(SIGNALS)), threshold=0.4)
"""Weighs the row model and the periods; every choice has probability one half."""


def _query(text: str, *years: int, unit: AskedUnit | None = None) -> Query:
    periods = tuple(Period(year, "FY") for year in years)
    return Query(text, text, ("acme",), periods=periods, names=("Acme",), shape=Shape(None, None, unit=unit))


def _answer(
    query: Query, reader: FakeRowReader, items: tuple[LineItem, ...] = ITEMS, model: ReadingModel = MODEL
) -> Answer | None:
    curation = Curation((passage(3), passage(5)), answerable=True)
    tables = TableAnswerer(facts(items), reader, model)
    reading = tables.read(query, curation, Journal())
    return tables.answer(reading, query, curation) if reading is not None else None


def test_one_cell_of_the_year_asked_for() -> None:
    answer = _answer(
        _query("Capital spending of North America Beverages in 2021?", 2021), FakeRowReader("value", "North")
    )
    assert answer is not None
    assert (answer.value, answer.unit) == (769e6, "USD")
    assert "North America Beverages" in answer.text
    assert answer.grounded
    assert answer.confidence == 0.5


def test_an_operand_that_is_not_there_makes_the_figure_unsure() -> None:
    query = _query("Capital spending of North America Beverages in 2021?", 2021)
    curation = Curation((passage(3), passage(5)), answerable=True)
    there, gone = (
        TableAnswerer(facts(ITEMS), FakeRowReader("value", "North", present=present)).read(query, curation, Journal())
        for present in (4.0, -4.0)
    )
    assert there is not None
    assert gone is not None
    assert 1 - gone.choice.probability > 3 * (1 - there.choice.probability)


def test_change_between_the_years_of_one_row() -> None:
    query = _query("By how much did spending of the Beverages rise from 2021 to 2022?", 2021, 2022)
    answer = _answer(query, FakeRowReader("difference", "North"))
    assert answer is not None
    assert answer.value == 135e6
    assert answer.text == (
        "$135 million, or 17.6% (North America Beverages: $904 million in the year ended December 31, 2022; "
        "$769 million in the year ended December 31, 2021)"
    )
    assert [cell.text for cell in answer.operands] == ["904", "769"]


def test_a_fall_is_the_earlier_figure_less_the_later_one() -> None:
    query = _query("How far did spending of the Frito Snacks come down from 2021 to 2022?", 2021, 2022)
    answer = _answer(query, FakeRowReader("difference", "Frito", backwards=True))
    assert answer is not None
    assert answer.value == 136e6
    assert answer.text.startswith("a decrease of $136 million, or 17.0% (Frito Snacks: ")


def test_what_is_less_than_another_row_did_not_fall() -> None:
    items = (
        item(3, 1, "Assets of Borealis", 379e6, text="379", period_end=BEFORE),
        item(3, 2, "Assets of Cirrus", 60e6, text="60"),
    )
    query = _query("How much more was bought with Borealis than with Cirrus?", 2021, 2022)
    answer = _answer(query, FakeRowReader("difference", "Borealis", "Cirrus", backwards=True), items)
    assert answer is not None
    assert answer.value == 319e6
    assert answer.text.startswith("$319 million")


def test_growth_over_the_year_before_the_only_one_named() -> None:
    query = _query("By what percentage did spending of the Beverages rise in 2022?", 2022, unit="percent")
    answer = _answer(query, FakeRowReader("growth", "North"))
    assert answer is not None
    assert answer.unit == "percent"
    assert answer.value == pytest.approx(100 * 135 / 769)


def test_share_of_two_rows_in_one_column() -> None:
    query = _query("Snacks as a percentage of beverages in 2021?", 2021, unit="percent")
    answer = _answer(query, FakeRowReader("share", "Frito", "North"))
    assert answer is not None
    assert answer.value == pytest.approx(100 * 801 / 769)


def test_sum_of_several_rows() -> None:
    answer = _answer(_query("Both segments together in 2022?", 2022), FakeRowReader("sum", listed=("North", "Frito")))
    assert answer is not None
    assert answer.value == 904e6 + 665e6


def test_average_over_the_periods_of_one_row() -> None:
    answer = _answer(_query("Mean spending in 2021 and 2022?", 2021, 2022), FakeRowReader("average", "North"))
    assert answer is not None
    assert answer.value == (904e6 + 769e6) / 2


def test_which_row_is_the_largest() -> None:
    query = _query("Which segment spent most in 2021?", 2021)
    answer = _answer(query, FakeRowReader("which_max", listed=("North", "Frito")))
    assert answer is not None
    assert answer.value is None
    assert answer.text.startswith("Frito Snacks (")


def test_a_result_in_another_unit_than_asked_for_is_no_answer() -> None:
    query = _query("What is the ratio of North America Beverages in 2022?", 2022, unit="ratio")
    assert _answer(query, FakeRowReader("value", "North"), ITEMS[:4]) is None


def test_a_percentage_is_shown_as_printed() -> None:
    answer = _answer(
        _query("Share of units in hotels in 2022?", 2022, unit="percent"), FakeRowReader("value", "hotels")
    )
    assert answer is not None
    assert (answer.value, answer.unit) == (12.5, "percent")


def test_costs_in_parentheses_count_as_amounts() -> None:
    costs = tuple(
        item(
            3, 1, "Impairment charges", -value, text=f"({value / 1e6:.0f})", scale=10**6, period_end=end, column=column
        )
        for column, (value, end) in enumerate([(200e6, ITEMS[0].period_end), (100e6, BEFORE)])
    )
    query = _query("By what percentage did impairment charges rise from 2021 to 2022?", 2021, 2022, unit="percent")
    answer = _answer(query, FakeRowReader("growth", "Impairment"), costs)
    assert answer is not None
    assert answer.value == pytest.approx(100.0)


def test_below_the_threshold_there_is_no_answer() -> None:
    query = _query("Capital spending of North America Beverages in 2021?", 2021)
    assert _answer(query, FakeRowReader("value", "North"), model=replace(MODEL, threshold=0.6)) is None


def test_without_tables_there_is_no_answer() -> None:
    assert _answer(_query("Capital spending?"), FakeRowReader("value"), items=()) is None

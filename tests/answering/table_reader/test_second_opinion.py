"""Comparison of a plan's figure with the readings of the tables."""

from __future__ import annotations

import pytest

from finray.answering.table_reader.table_answerer import TableAnswerer, TableReading
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.query import Query, Shape
from finray.core.roles import Curation
from tests.answering.made_up_cells import facts, passage
from tests.answering.table_reader.scores import FakeRowReader
from tests.answering.table_reader.test_table_answerer import MODEL

_TEXT = "Spending of the Beverages in 2021?"
_QUERY = Query(_TEXT, _TEXT, ("acme",), periods=(Period(2021, "FY"),), names=("Acme",), shape=Shape("million", 0))


@pytest.fixture
def reading() -> TableReading:
    curation = Curation((passage(3), passage(5)), answerable=True)
    found = TableAnswerer(facts(), FakeRowReader("value", "North"), MODEL).read(_QUERY, curation, Journal())
    assert found is not None
    return found


def test_the_figure_of_the_likeliest_reading_is_agreed_with(reading: TableReading) -> None:
    opinion = reading.opinion(769e6, _QUERY)
    assert (opinion.agreed, opinion.read, opinion.probability) == (True, True, 0.5)
    assert opinion.mass > 0.5


def test_a_figure_of_another_period_is_not_read(reading: TableReading) -> None:
    opinion = reading.opinion(665e6, _QUERY)
    assert (opinion.agreed, opinion.read, opinion.mass) == (False, False, 0.0)


def test_a_figure_that_no_reading_states(reading: TableReading) -> None:
    opinion = reading.opinion(123e6, _QUERY)
    assert (opinion.agreed, opinion.read, opinion.mass) == (False, False, 0.0)


def test_a_rounded_figure_and_the_sign_of_a_deduction_are_the_same(reading: TableReading) -> None:
    assert all(reading.opinion(value, _QUERY).agreed for value in (770e6, -769e6))

"""Names that tables shorten to initials."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.answering.table_reader.initials import in_printed_words
from finray.core.query import PIECES, Query
from tests.answering.made_up_cells import item
from tests.answering.table_reader.scores import FakeRowReader, readings_by

ROWS = (
    item(3, 1, "FLNA", 665.0),
    item(3, 2, "NAB", 904.0),
    item(3, 3, "Goodwill", 3452.0, section="ESSA (b)"),
    item(3, 4, "Latin America", 481.0),
    item(3, 6, "Latin America Beverages", 9.0),
    item(3, 7, "EH(a)", 8.0),
    item(3, 10, "FRITO SNACKS (FS)", 8.0),
    item(3, 11, "FS", 8.0),
    item(3, 8, "Tier II capital", 8.0),
    item(3, 9, "NET SALES", 8.0),
    item(3, 5, "Wireless", 7.0, column_label="GMNS"),
)


def _as_printed(question: str, *quantities: str) -> Query:
    return in_printed_words(Query(question, question, ("acme",), quantities=quantities), ROWS)


@pytest.mark.parametrize(
    ("asked", "printed"),
    [
        ("capital spending of the North America Beverages segment", "capital spending of the NAB segment"),
        ("fy17 goodwill europe sub-saharan africa segment", "fy17 goodwill ESSA segment"),
        ("revenue of Global Merchant and Network Services", "revenue of GMNS"),
        ("margin of Frito-Lay North America in 2021", "margin of FLNA in 2021"),
        ("capital spending of LA", "capital spending of LA"),
        ("operating profit of LAB", "operating profit of Latin America Beverages"),
        ("WHAT DID LAB EARN", "WHAT DID LAB EARN"),
        ("capital spending of Latin America", "capital spending of Latin America"),
        ("margin of frito-lay north america", "margin of FLNA"),
        ("no able buyer of anything", "no able buyer of anything"),
        ("ratio of net earnings to total assets", "ratio of net earnings to total assets"),
        ("profit of Essential Health", "profit of EH"),
        ("Essential Health's profit", "EH's profit"),
        ("Frito Snacks' profit", "Frito Snacks' profit"),
        ("Interest Income of tier two", "Interest Income of tier two"),
        ("what of North. America Beverages", "what of North. America Beverages"),
    ],
)
def test_a_name_is_asked_for_as_the_table_prints_it(asked: str, printed: str) -> None:
    assert _as_printed(asked).question == printed


def test_quantities_are_renamed_too_and_pieces_stay_apart() -> None:
    query = _as_printed("spending of North America Beverages", f"spending{PIECES}North America Beverages")
    assert query.quantities == (f"spending{PIECES}NAB",)


def test_a_name_that_a_row_prints_in_full_stays() -> None:
    full = replace(ROWS[0], label="North America Beverages", row=9)
    asked = Query("spending of North America Beverages", "spending of North America Beverages")
    assert in_printed_words(asked, (*ROWS, full)) == asked


def test_a_name_is_spelled_as_the_tables_print_it_first() -> None:
    names = ("Latin America Beverages", "LATIN AMERICA Beverages", "Latin AMERICA Beverages", "Latin America BEVERAGES")
    rows = [replace(ROWS[0], label=name, row=row) for row, name in enumerate(names)]
    query = in_printed_words(Query("profit of LAB", "profit of LAB"), rows)
    assert query.question == "profit of Latin America Beverages"


def test_the_row_with_the_initials_is_read() -> None:
    text = "What was the capital spending of North America Beverages?"
    found = readings_by(FakeRowReader("value", "NAB"), ROWS, Query(text, text, ("acme",)))
    assert found.shortlist.series[0].first.item.label == "NAB"
    assert any(found.cells_of(each)[0].item.text == "904" for each in found.readings)


def test_a_company_keeps_its_name() -> None:
    asked = Query("revenue of North America Beverages", "revenue", names=("North America Beverages",))
    assert in_printed_words(asked, ROWS) == asked


@given(st.text(max_size=200))
def test_any_text_is_a_question(text: str) -> None:
    in_printed_words(Query(text, text), ROWS)

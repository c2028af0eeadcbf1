"""The line items of a table."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from finray.core.tables import Cell, Column, Row, Table, line_items

DAY = dt.date(2022, 12, 31)
SALES = Cell(1, "$1,200", None, 1.2e9, "USD", 10**6, DAY, 12, (1.0, 2.0, 3.0, 4.0), "us-gaap:Revenues")
DASH = Cell(2, "—", "dash", 0.0, "USD", 10**6, dt.date(2021, 12, 31), 12)
WORDS = Cell(2, "n/a", "n/a")
ROWS = (
    Row(3, 4, "Segments:"),
    Row(3, 5, "Widgets", (SALES, DASH), "Segments:", 1, 10, 20),
    Row(4, 0, "Rents", (replace(SALES, text="7", value=7e6), WORDS)),
)
COLUMNS = (Column(1, ("North", "2022"), "North"), Column(2, ("2021",)))
TABLE = Table(3, 4, 1, "Title", "Sales are:", None, "Acme Power Co", "USD", 10**6, COLUMNS, ROWS)


def test_each_figure_is_a_line_item_with_its_place_and_key() -> None:
    sales, dash, rents = line_items(TABLE)
    assert (sales.page, sales.row, sales.column, sales.label, sales.section) == (3, 5, 1, "Widgets", "Segments:")
    assert (sales.value, sales.text, sales.unit, sales.scale) == (1.2e9, "$1,200", "USD", 10**6)
    assert (sales.period_end, sales.months, sales.column_label) == (DAY, 12, "North")
    assert (sales.box, sales.concept) == ((1.0, 2.0, 3.0, 4.0), "us-gaap:Revenues")
    assert (sales.caption, sales.registrant, sales.statement) == ("Sales are:", "Acme Power Co", None)
    assert (dash.value, dash.text, dash.column_label) == (0.0, "—", None)
    assert (rents.page, rents.row, rents.section) == (4, 0, None)


def test_words_in_place_of_a_figure_are_no_line_item() -> None:
    assert [item.text for item in line_items(TABLE)] == ["$1,200", "—", "7"]


def test_rows_without_a_label_have_none() -> None:
    assert not list(line_items(replace(TABLE, rows=(Row(3, 5, "", (SALES, DASH)),))))


def test_the_part_that_a_tag_names_follows_the_head() -> None:
    north, other = replace(SALES, part="Europe"), replace(DASH, part="Europe")
    found = line_items(replace(TABLE, rows=(Row(3, 5, "Widgets", (north, other)),)))
    assert [item.column_label for item in found] == ["North [Europe]", "[Europe]"]


def test_a_primary_statement_needs_no_caption() -> None:
    assert {item.caption for item in line_items(replace(TABLE, statement="income"))} == {None}
    assert {item.caption for item in line_items(replace(TABLE, caption=""))} == {None}


def test_a_row_without_cells_is_a_heading_and_a_key_is_page_and_number() -> None:
    assert [row.is_heading for row in ROWS] == [True, False, False]
    assert TABLE.key == (3, 1)

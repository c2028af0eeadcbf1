"""A printed grid as tables: rows, headings among them, heads by level and what stands in each cell."""

from __future__ import annotations

import pytest

from finray.core.tables import Table
from finray.filings.tables.line_items import MAX_SOUGHT, Page, placed, read_page
from tests.evidence.one_filing import html_table, parsed
from tests.filings.tables.printed import ANNUAL, grid_of
from tests.growth import assert_linear


def _tables(rows: str, text: str = "Sales are as follows (in millions):") -> tuple[Table, ...]:
    return read_page([grid_of(rows, text)], text, None, ANNUAL, Page()).tables


def _one(rows: str) -> Table:
    (table,) = _tables(rows)
    return table


def test_headings_inside_a_table_are_rows_and_sections() -> None:
    table = _one(
        "~ | 2022 | 2021\nSales | 30 | 20\nProducts: | ~ | ~\nWidgets | 3 | 2\nServices: | ~ | ~\nRepairs | 4 | 5"
    )
    assert [(row.label, row.is_heading, row.section) for row in table.rows] == [
        ("Sales", False, None),
        ("Products:", True, None),
        ("Widgets", False, "Products:"),
        ("Services:", True, None),
        ("Repairs", False, "Services:"),
    ]
    assert [row.depth for row in table.rows if row.cells] == [0, 1, 1]


def test_headings_after_the_last_figures_are_dropped() -> None:
    assert [row.label for row in _one("~ | 2022 | 2021\nSales | 30 | 20\nOther matters | ~ | ~").rows] == ["Sales"]


def test_heads_keep_their_levels() -> None:
    (table,) = parsed(
        "<p>Sales</p>" + html_table("\n| North*2 | South*2\n| 2022 | 2021 | 2022 | 2021\nSales | 4 | 3 | 2 | 1")
    ).tables
    assert [column.heads for column in table.columns] == [
        ("North", "2022"),
        ("North", "2021"),
        ("South", "2022"),
        ("South", "2021"),
    ]


def test_a_second_set_of_heads_begins_another_table() -> None:
    first, second = _tables("~ | 2022 | 2021\nSales | 30 | 20\n~ | 2020 | 2019\nCost | 3 | 2")
    assert ([row.label for row in first.rows], [row.label for row in second.rows]) == (["Sales"], ["Cost"])
    assert [table.number for table in (first, second)] == [0, 1]
    assert [column.heads for column in second.columns] == [("2020",), ("2019",)]


@pytest.mark.parametrize(
    ("text", "stands", "value"),
    [
        ("n/a", "n/a", None),
        ("NM", "n/a", None),
        ("Not applicable", "n/a", None),
        ("See below", "words", None),
        ("—", "dash", 0.0),
        ("nil", "nil", 0.0),
        ("20", None, 20e6),
    ],
)
def test_what_stands_in_a_cell_is_kept(text: str, stands: str | None, value: float | None) -> None:
    cell = _one(f"~ | 2022 | 2021\nSales | 30 | {text}\nCost | 3 | 2").rows[0].cells[1]
    assert (cell.text, cell.stands, cell.value) == (text, stands, value)


def test_rows_are_placed_in_the_text_of_the_page() -> None:
    filing = parsed(
        "<p>Sales are (in millions):</p>" + html_table("\n| 2022 | 2021\nSales | 30 | 20\nCost of sales | 3 | 2")
    )
    text = filing.pages[1].text
    assert [text[row.start : row.end] for row in filing.tables[0].rows] == ["Sales | 30 | 20", "Cost of sales | 3 | 2"]


def test_rows_that_a_page_does_not_print_take_time_in_proportion_to_it() -> None:
    table = _one("~ | 2022 | 2021\nAbsent row | 30 | 20")

    def place(size: int) -> None:
        many = [table] * (size + MAX_SOUGHT)
        assert not any(row.end for each in placed(many, "sales rose. " * size) for row in each.rows)

    assert_linear(place, 8_000)

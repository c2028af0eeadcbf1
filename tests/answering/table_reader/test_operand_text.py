"""What an answer says about the cells that it is computed from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from finray.answering.cells.page_cells import PageCell, PageCells
from finray.answering.table_reader.operand_text import operand_text
from finray.core.query import Shape
from tests.answering.made_up_cells import BEFORE, facts, item, passage

IN_DOLLARS = Shape(None, None)


def _cell(label: str, value: float, **changes: object) -> PageCell:
    (cell,) = PageCells(facts((item(3, 1, label, value, **changes),))).read([passage(3)])
    return cell


def test_one_cell_is_named_with_its_period() -> None:
    assert operand_text([_cell("Net sales", 904e6)], [904e6], IN_DOLLARS) == (
        "Net sales, the year ended December 31, 2022"
    )


@pytest.mark.parametrize(
    ("label", "column", "name"),
    [
        ("Goodwill", "International [Acme International]", "Goodwill, International"),
        ("Cloud services", "[Cloud Services]", "Cloud services"),
        ("Cloud services", "[Hardware]", "Cloud services, Hardware"),
        ("Cloud services", "2022", "Cloud services"),
    ],
)
def test_columns_are_named_unless_they_repeat_the_row_or_the_period(label: str, column: str, name: str) -> None:
    cell = _cell(label, 904e6, column_label=column)
    assert operand_text([cell], [904e6], IN_DOLLARS) == f"{name}, the year ended December 31, 2022"


def test_a_balance_named_by_its_date_has_it_once() -> None:
    cell = _cell("Balance at December 31, 2022", 904e6, months=None)
    assert operand_text([cell], [904e6], IN_DOLLARS) == "Balance at December 31, 2022"


def test_periods_of_one_row_follow_its_name() -> None:
    cells = [_cell("Net sales", 904e6), _cell("Net sales", 769e6, period_end=BEFORE)]
    assert operand_text(cells, [904e6, 769e6], replace(IN_DOLLARS, decimals=1)) == (
        "Net sales: $904 million in the year ended December 31, 2022; $769 million in the year ended December 31, 2021"
    )


def test_rows_have_their_own_amounts_and_units() -> None:
    cells = [
        _cell("Options", 2e6, months=None, unit="shares"),
        _cell("Average price", 12.5, period_end=None, months=None, unit="USD/share"),
    ]
    assert operand_text(cells, [2e6, 12.5], IN_DOLLARS) == (
        "Options 2 million shares at December 31, 2022; Average price $12.50"
    )


def test_long_lists_name_the_rows_only() -> None:
    cells = [_cell(f"Plant {number}", 1e6) for number in range(9)]
    assert operand_text(cells, [1e6] * 9, IN_DOLLARS).startswith("Plant 0; Plant 1; ")

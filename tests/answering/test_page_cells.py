"""The cells of retrieved pages, and which of them have a unit that a question may mean."""

from __future__ import annotations

from typing import cast

import pytest

from finray.answering.page_cells import PageCells, may_answer
from finray.core.query import AskedUnit, Query, Shape
from finray.core.types import LineItem
from finray.index.facts import FilingFacts
from tests.answering.made_up_cells import ITEMS, MadeUpFacts, facts, passage


def test_cells_come_with_the_rank_of_their_page_and_the_words_around_them() -> None:
    cells = PageCells(facts()).read([passage(5), passage(3), passage(5)])
    assert len(cells) == len(ITEMS)
    assert {cell.item.page: cell.rank for cell in cells} == {5: 0, 3: 1}
    first = next(cell for cell in cells if cell.item.page == 3)
    assert {"north", "america"} <= first.words.label
    assert "spend" in first.words.caption
    assert "note" in first.heading


def test_a_page_is_read_once_while_its_filing_is_kept() -> None:
    source = MadeUpFacts()
    pages = PageCells(cast(FilingFacts, source))
    for _ in range(3):
        pages.read([passage(3)])
    assert source.reads == 1
    pages.read([passage(3), passage(5)])
    assert source.reads == 2


def test_a_figure_that_is_tagged_twice_is_one_cell() -> None:
    assert len(PageCells(facts((ITEMS[0], ITEMS[0]))).read([passage(3)])) == 1


def _unit(unit: str, label: str = "Net income") -> LineItem:
    return LineItem(1, None, label, 3.12, "3.12", unit, 1, None, None)


@pytest.mark.parametrize(
    ("question", "asked", "unit", "may"),
    [
        ("What was net income in 2022?", None, "USD/share", False),
        ("What was diluted EPS in 2022?", None, "USD/share", True),
        ("What was net income in 2022?", None, "shares", False),
        ("How many options were granted?", None, "shares", True),
        ("What was net income in 2022?", None, "USD", True),
        ("In USD millions, what were dividends?", "money", "percent", False),
        ("In USD millions, what were dividends?", "money", "EUR", True),
        ("Net income per share?", "per share", "USD", False),
        ("What percentage of sales?", "percent", "USD", False),
        ("What percentage of sales?", "percent", "percent", True),
        ("What was the ratio?", "ratio", "USD/share", False),
        ("How many shares were sold?", "shares", "USD", False),
        ("How many employees?", "count", "pure", True),
        ("How many employees?", "count", "USD", False),
    ],
)
def test_a_cell_of_another_unit_cannot_answer(question: str, asked: AskedUnit | None, unit: str, may: bool) -> None:
    query = Query(question, question, shape=Shape(None, None, unit=asked))
    assert may_answer(query, _unit(unit)) is may


def test_a_plain_number_is_a_ratio_only_if_its_row_says_so() -> None:
    query = Query("q", "What was the ratio of debt to equity?", shape=Shape(None, None, unit="ratio"))
    assert may_answer(query, _unit("pure", "Leverage ratio"))
    assert not may_answer(query, _unit("pure", "Number of stores"))

"""The cells of retrieved pages, read once."""

from __future__ import annotations

from typing import cast

from finray.answering.cells.page_cells import PageCells
from finray.index.reading.facts import FilingFacts
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


def test_cells_of_further_pages_come_last() -> None:
    cells = PageCells(facts()).read([passage(5)], [("a", 3), ("a", 5)])
    assert list(dict.fromkeys(cell.item.page for cell in cells)) == [5, 3]


def test_figures_that_a_sentence_lists_are_cells_of_a_row() -> None:
    first, second = PageCells(facts()).read([passage(7)])
    assert (first.item.label, first.item.value, second.item.value) == ("Rental expense of our warehouses", 17e6, 15e6)
    assert first.row == second.row
    assert first.item.period_end != second.item.period_end
    assert "rental" in first.words.label or "rent" in " ".join(first.words.label)

"""Which cells the words of a question's quantities lead to."""

from __future__ import annotations

from dataclasses import replace

from finray.answering.cells.page_cells import PageCells
from finray.answering.table_reader.looked_up import Matches, Sought, matches, names_all, sought
from finray.core.filing import LineItem
from finray.core.period import Period
from finray.core.query import Query
from tests.answering.made_up_cells import ITEMS, facts, item, passage

_QUERY = Query(
    "By how much did it grow?", "By how much did it grow?", ("acme",), periods=(Period(2022, "FY"),), names=("Acme",)
)
_PAGES = [passage(3), passage(5)]


def _looked_up(query: Query, items: tuple[LineItem, ...] = ITEMS) -> tuple[Sought, Matches, list[str]]:
    source = facts(items)
    found = sought(query, _PAGES, source)
    cells = PageCells(source).read(_PAGES)
    return found, matches(found, cells, source), [cell.item.text for cell in cells]


def test_the_row_of_a_quantity_is_found_for_the_period_asked_for() -> None:
    found, of_cells, texts = _looked_up(replace(_QUERY, quantities=("North America Beverages capital spending",)))
    assert [each.line_item.text for each in found.found] == ["904"]
    assert found.share == 1.0
    assert of_cells.found[texts.index("904")] == 0
    assert of_cells.found[texts.index("665")] == -1
    assert of_cells.words[texts.index("904"), 0] > of_cells.words[texts.index("665"), 0]


def test_what_grew_is_looked_up_for_the_year_before_too() -> None:
    query = replace(_QUERY, quantities=("North America Beverages capital spending",), operation="growth")
    assert [each.line_item.text for each in _looked_up(query)[0].found] == ["904", "769"]


def test_held_and_spare_words_compare_the_row_with_its_quantity() -> None:
    rows = (item(3, 1, "Impairment losses", 5.0), item(3, 2, "Impairment losses of joint ventures", 7.0))
    _, of_cells, _ = _looked_up(replace(_QUERY, quantities=("impairment losses",)), rows)
    assert of_cells.held[:, 0].tolist() == [1.0, 1.0]
    assert of_cells.spare[0, 0] == 0.0 < of_cells.spare[1, 0]


def test_a_question_without_quantities_looks_nothing_up() -> None:
    found, of_cells, texts = _looked_up(_QUERY)
    assert (found.phrases, found.found, found.share) == ((), (), 0.0)
    assert of_cells.words.shape == (len(texts), 0)
    assert set(of_cells.found) == {-1}


def test_a_row_of_a_statement_must_have_the_words_that_narrow_a_quantity() -> None:
    rows = (item(3, 1, "Goodwill", 5.0, statement="balance"), item(3, 2, "Goodwill", 5.0))
    source = facts(rows)
    statement, note = PageCells(source).read([passage(3)])
    narrower = replace(_QUERY, quantities=("goodwill impairment",))
    assert not names_all(narrower, statement, source)
    assert names_all(narrower, note, source)
    assert names_all(replace(_QUERY, quantities=("goodwill",)), statement, source)
    text = "What was Acme's goodwill impairment in 2022?"
    assert not names_all(replace(_QUERY, question=text, text=text), statement, source)

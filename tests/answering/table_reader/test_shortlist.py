"""Which rows are read beside a question: those with its words, and those that a look-up found."""

from __future__ import annotations

from collections.abc import Sequence

from finray.answering.cells.page_cells import PageCells
from finray.answering.table_reader.looked_up import sought
from finray.answering.table_reader.shortlist import rows_of, shortlist
from finray.core.filing import LineItem
from finray.core.period import Period
from finray.core.query import Query
from tests.answering.made_up_cells import facts, item, passage

_SALES = "Net sales by region were as follows:"
_TABLE = [item(3, row, label, 100.0 + row, caption=_SALES) for row, label in enumerate(("Asia", "Europe", "Africa"), 1)]


def _labels(query: Query, items: Sequence[LineItem], size: int) -> list[str]:
    source = facts(items)
    looked_for = sought(query, [passage(3)], source).found
    pages = [(each.filing.filing_id, each.line_item.page) for each in looked_for]
    rows = shortlist(rows_of(query, PageCells(source).read([passage(3)], pages), source), size, looked_for)
    assert [rows.series[owner].first.item.label for owner in rows.owner] == [cell.item.label for cell in rows.cells]
    return [series.first.item.label for series in rows.series]


def test_rows_with_the_words_of_the_question_come_first() -> None:
    assert _labels(Query("sales in Europe", "sales in Europe"), _TABLE, 1) == ["Europe"]


def test_a_row_that_a_look_up_found_on_another_page_is_read_as_well() -> None:
    text = "sales in Europe, beside restructuring of offices"
    query = Query(
        text, text, ("acme",), periods=(Period(2022, "FY"),), quantities=("restructuring of offices",), names=("Acme",)
    )
    elsewhere = item(5, 1, "Restructuring of offices", 7.0, months=12)
    assert "Restructuring of offices" in _labels(query, [*_TABLE, elsewhere], 1)

"""Which rows are read beside a question: those with its words, and totals of their tables."""

from __future__ import annotations

from collections.abc import Sequence

from finray.answering.page_cells import PageCells
from finray.answering.table_reader.shortlist import shortlist
from finray.core.query import Query
from finray.core.types import LineItem
from tests.answering.made_up_cells import facts, item, passage

_SALES = "Net sales by region were as follows:"


def _labels(query: str, items: Sequence[LineItem], size: int) -> list[str]:
    source = facts(items)
    rows = shortlist(Query(query, query), PageCells(source).read([passage(3)]), source, size)
    assert [rows.series[owner].first.item.label for owner in rows.owner] == [cell.item.label for cell in rows.cells]
    return [series.first.item.label for series in rows.series]


def _table(*labels: str, caption: str = _SALES, start: int = 1) -> list[LineItem]:
    return [item(3, row, label, 100.0 + row, caption=caption) for row, label in enumerate(labels, start=start)]


def test_rows_with_the_words_of_the_question_come_first() -> None:
    assert _labels("sales in Europe", _table("Asia", "Europe", "Africa"), 1) == ["Europe"]


def test_the_total_of_a_chosen_row_is_read_as_well() -> None:
    items = _table("Asia", "Europe", "Africa", "Total")
    assert _labels("share of Europe", items, 1) == ["Europe", "Total"]


def test_totals_of_tables_further_down_are_not() -> None:
    regions = _table(*(f"{name} Europe" for name in ("West", "East", "South", "North", "Central", "Other")), "Total")
    other = _table("Buildings", "Total property", caption="Property was as follows:", start=20)
    assert _labels("share of West Europe", [*regions, *other], 1) == ["West Europe", "Total"]


def test_few_totals_are_read() -> None:
    items = _table("Europe", *(f"Total of group {number}" for number in range(9)))
    assert len(_labels("share of Europe", items, 1)) == 5

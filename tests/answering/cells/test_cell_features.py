"""What of a question each cell of a table agrees with: words, initials, periods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from finray.answering.cells.cell_features import FEATURES, described_cells
from finray.answering.cells.page_cells import PageCells
from finray.core.filing import LineItem
from finray.core.period import Period
from finray.core.query import Query
from tests.answering.made_up_cells import BEFORE, END, ITEMS, facts, item, passage


def _query(text: str, year: int = 2022) -> Query:
    return Query(text, text, ("acme",), periods=(Period(year, "FY"),), names=("Acme",))


def _feature(
    query: Query, name: str, items: tuple[LineItem, ...] = ITEMS
) -> Mapping[tuple[str, object, int | None], float]:
    """The feature of each cell, by label, end and months."""
    source = facts(items)
    found = described_cells(query, tuple(PageCells(source).read([passage(3), passage(5)])), source)
    column = list(FEATURES).index(name)
    keys = [(cell.item.label, cell.item.period_end, cell.item.months) for cell in found.cells]
    return dict(zip(keys, found.features[:, column].tolist(), strict=True))


def test_initials_stand_for_their_words() -> None:
    rows = (item(3, 1, "NAB", 904e6), item(3, 2, "FLNA", 665e6))
    shares = _feature(_query("What did Acme spend on North America Beverages in 2022?"), "row", rows)
    assert shares["NAB", END, 12] > 0 == shares["FLNA", END, 12]


def test_a_quarter_is_not_the_year_to_date() -> None:
    rows = (item(3, 1, "Net sales", 30, months=3), item(3, 1, "Net sales", 90, months=9, column=2))
    query = replace(_query("What were net sales?"), periods=(Period(2022, None, END, 9),))
    lengths = _feature(query, "months", rows)
    assert (lengths["Net sales", END, 3], lengths["Net sales", END, 9]) == (0.0, 1.0)


def test_the_period_of_a_cell_is_compared_with_that_of_the_question() -> None:
    ends = _feature(_query("What was capital spending of Frito Snacks?", 2021), "end")
    assert (ends["Frito Snacks", BEFORE, 12], ends["Frito Snacks", END, 12]) == (1.0, 0.0)


def test_a_row_fits_the_words_of_a_quantity_whatever_stands_around_them() -> None:
    text = "Please read off, for the table on my desk, Impairment losses"
    plain, tagged = _query(text), replace(_query(text), quantities=("Impairment losses",))
    row = ("Impairment losses", END, 12)
    assert _feature(tagged, "fit")[row] > _feature(plain, "fit")[row]


def test_without_cells_nothing_is_described() -> None:
    source = facts(())
    found = described_cells(_query("What was capital spending?"), (), source)
    assert (found.cells, found.unprinted) == ((), 1.0)

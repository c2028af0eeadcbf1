"""Which cells are compared with one another."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from finray.answering.cells.page_cells import PageCells
from finray.answering.rankings.blocks import Axis, Block, blocks_of
from finray.answering.rankings.ranked import rankings_of
from finray.core.filing import LineItem
from finray.question.synonyms import words_of
from tests.answering.made_up_cells import BEFORE, facts, item, passage


def _blocks(items: tuple[LineItem, ...], question: str = "") -> list[Block]:
    return blocks_of(PageCells(facts(items)).read((passage(3),)), words_of(question))


def _names(items: tuple[LineItem, ...], axis: Axis = "rows", question: str = "") -> list[tuple[str, ...]]:
    return [tuple(m.name for m in block.members) for block in _blocks(items, question) if block.axis == axis]


def _rows(*named: tuple[str, float]) -> tuple[LineItem, ...]:
    return tuple(item(3, row, label, value) for row, (label, value) in enumerate(named, start=1))


def test_rows_that_add_up_to_a_total_are_compared_without_it() -> None:
    rows = _rows(("Beverages", 30.0), ("Snacks", 20.0), ("Segments", 50.0), ("Corporate", -4.0), ("Interest", -6.0))
    assert _names(rows) == [("Beverages", "Snacks"), ("Corporate", "Interest")]


def test_a_row_called_total_ends_a_block_even_if_the_rows_are_rounded() -> None:
    assert _names(_rows(("Tea", 30.0), ("Juice", 20.0), ("Total sales", 51.0))) == [("Tea", "Juice")]


def test_headings_part_blocks() -> None:
    assets = [replace(row, section="Assets") for row in _rows(("Cash", 3.0), ("Inventory", 5.0))]
    debts = [replace(row, section="Liabilities", row=row.row + 9) for row in _rows(("Notes", 2.0), ("Taxes", 1.0))]
    assert _names((*assets, *debts)) == [("Cash", "Inventory"), ("Notes", "Taxes")]


def test_amounts_are_not_ranked_with_shares() -> None:
    rows = (*_rows(("Sales", 3.0), ("Costs", 2.0)), item(3, 3, "Shares issued", 9.0, unit="shares"))
    assert _names(rows) == [("Sales", "Costs")]


def test_footnote_marks_are_no_part_of_a_name() -> None:
    assert _names(_rows(("Europe (a)", 3.0), ("Asia (1) (2)", 2.0))) == [("Europe", "Asia")]


def test_columns_of_one_row_without_their_total() -> None:
    first = item(3, 1, "Goodwill", 4.0, column_label="Europe")
    others = [
        replace(first, column=n, value=v, text=str(v), column_label=head)
        for n, (head, v) in enumerate((("Asia", 7.0), ("Total", 11.0)), start=2)
    ]
    assert _names((first, *others), "columns") == [("Europe", "Asia")]


def test_levels_are_told_apart_by_their_numbers() -> None:
    first = item(3, 1, "Bonds", 4.0, column_label="Level 1")
    assert _names((first, replace(first, column=2, column_label="Level 2")), "columns") == [("Level 1", "Level 2")]


def test_a_table_of_last_year_below_that_of_this_year_gives_the_changes() -> None:
    now = _rows(("Europe", 8.0), ("Asia", 9.0))
    before = [replace(row, row=row.row + 9, caption="Last year", period_end=BEFORE, value=5.0, text="5") for row in now]
    rankings = [each for block in _blocks((*now, *before)) for each in rankings_of(block)]
    rise = next(each for each in rankings if each.measured == "difference" and not each.lowest)
    assert rise.block.members[rise.winner].name == "Asia"
    assert rise.figures == (3.0, 4.0)


def test_rows_that_the_question_names_are_compared_across_headings() -> None:
    rows = (
        replace(item(3, 1, "Total U.S. tax", 5.0), section="U.S."),
        replace(item(3, 2, "Total state tax", 2.0), section="States"),
        replace(item(3, 3, "Total foreign tax", 3.0), section="Abroad"),
        replace(item(3, 4, "Deferred items", 3.0), section="Abroad"),
    )
    assert ("Total state tax", "Total foreign tax") in _names(rows, question="Was the state or the foreign tax larger?")


def test_quarters_are_compared_with_those_a_year_before() -> None:
    sold = item(3, 1, "Sold", 1.0, months=3)
    ends = (dt.date(2021, 3, 31), dt.date(2021, 6, 30), dt.date(2020, 3, 31), dt.date(2020, 6, 30))
    quarters = [
        replace(sold, column=n, period_end=end, value=value, text=str(value))
        for n, (end, value) in enumerate(zip(ends, (10.0, 20.0, 14.0, 19.0), strict=True), start=1)
    ]
    rankings = [each for block in _blocks(tuple(quarters)) if block.axis == "periods" for each in rankings_of(block)]
    fall = next(each for each in rankings if each.measured == "difference" and each.lowest)
    assert fall.block.members[fall.winner].name == "the 3 months ended March 31, 2021"


@given(st.lists(st.floats(-1e12, 1e12, allow_nan=False), min_size=1, max_size=9))
def test_the_winner_is_the_extreme_of_its_figures(values: list[float]) -> None:
    rows = _rows(*((f"Row {chr(97 + n) * 3}", value) for n, value in enumerate(values)))
    for block in _blocks(rows):
        for ranking in rankings_of(block):
            best = min(ranking.figures) if ranking.lowest else max(ranking.figures)
            assert ranking.figures[ranking.at.index(ranking.winner)] == best
            assert ranking.figures.count(best) == 1


def test_what_leads_from_segments_to_the_company_is_not_ranked_with_them() -> None:
    rows = _rows(("Canada", 30.0), ("Europe", 20.0), ("General corporate expenses", -9.0), ("Impairment", -7.0))
    assert _names(rows) == [("Canada", "Europe")]

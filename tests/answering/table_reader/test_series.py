"""Rows of figures, and how they are described to the model that reads them."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from finray.answering.cells.page_cells import PageCells
from finray.answering.table_reader.series import Series, numbered_series, series_of
from finray.core.filing import LineItem
from tests.answering.made_up_cells import BEFORE, ITEMS, facts, item, passage


def _series(items: tuple[LineItem, ...] = ITEMS) -> list[Series]:
    return series_of(PageCells(facts(items)).read([passage(3), passage(5)]))


def test_the_periods_of_a_row_are_one_series() -> None:
    series = _series()[0]
    assert [cell.item.text for cell in series.cells] == ["904", "769"]
    assert series.text.startswith("North America Beverages | amount")


def test_columns_that_are_more_than_a_period_are_series_of_their_own() -> None:
    found = {series.text: len(series.cells) for series in _series() if series.first.item.label == "Granted"}
    assert sorted(found.values()) == [1, 1]
    assert any("Number of RSUs" in text for text in found)


def test_columns_that_only_name_periods_are_not() -> None:
    one = item(3, 1, "Interest", 5.0, column_label="Three months ended June 30, 2022")
    other = replace(one, value=6.0, text="6", column=2, period_end=BEFORE, column_label="Three months ended 2021")
    assert len(_series((one, other))) == 1


def test_a_title_over_the_first_column_makes_no_series() -> None:
    one = item(3, 1, "Proceeds from debt", 5.0, column_label="Acme and Subsidiaries 2022")
    other = replace(one, value=6.0, text="6", column=2, period_end=BEFORE, column_label=None)
    (series,) = _series((one, other))
    assert len(series.cells) == 2
    assert "Acme" not in series.text


def test_a_column_of_changes_is_a_series_of_its_own() -> None:
    one = item(3, 1, "Net revenue", 5.0, column_label="Increase 2022")
    other = replace(one, value=6.0, text="6", column=2, period_end=BEFORE, column_label=None)
    assert [len(series.cells) for series in _series((one, other))] == [1, 1]


def test_columns_of_one_period_that_differ_by_figures_are_series_of_their_own() -> None:
    one = item(3, 1, "Corporate debt", 2727.0, column_label="December 31, Years Over 1 to 5")
    other = replace(one, value=1557.0, text="1,557", column=2, column_label="December 31, Years Over 5 to 10")
    assert [len(series.cells) for series in _series((one, other))] == [1, 1]


def test_ranges_of_years_are_periods_of_one_series() -> None:
    one = replace(item(3, 1, "Purchase obligations", 5.0, column_label="2019-2020"), period_end=None, months=None)
    other = replace(one, value=6.0, text="6", column=2, column_label="2021-2022")
    assert [len(series.cells) for series in _series((one, other))] == [2]


def test_opening_and_closing_balances_are_periods_of_one_series() -> None:
    opening = replace(item(3, 1, "Benefit obligation, beginning of year", 17.0), months=0, period_end=BEFORE)
    before = replace(opening, value=18.0, text="18", column=2, period_end=dt.date(2020, 12, 31))
    closing = replace(item(3, 4, "Benefit obligation, end of year", 11.0), months=0)
    repeated = replace(closing, value=17.0, text="17", column=2, period_end=BEFORE)
    (series,) = _series((opening, before, closing, repeated))
    assert [cell.item.text for cell in series.cells] == ["17", "18", "11"]


def test_two_pairs_of_balances_in_one_table_are_not_mixed() -> None:
    opening = replace(item(3, 1, "Outstanding at beginning of year", 5.0), months=0, period_end=BEFORE)
    closing = replace(item(3, 2, "Outstanding at end of year", 6.0), months=0)
    others = (replace(opening, row=3, value=50.0, text="50"), replace(closing, row=4, value=60.0, text="60"))
    found = [[cell.item.text for cell in series.cells] for series in _series((opening, closing, *others))]
    assert found == [["5"], ["6"], ["50"], ["60"]]


def test_balances_of_different_things_stay_apart() -> None:
    one = replace(item(3, 1, "Plan assets at end of year", 17.0), months=0)
    other = replace(item(3, 2, "Benefit obligation at end of year", 18.0), months=0)
    assert len(_series((one, other))) == 2


def test_the_description_has_caption_and_headings_but_no_figure() -> None:
    text = _series()[0].text
    assert "Capital spending by segment" in text
    assert "Note 7" in text
    assert "904" not in text


def test_long_captions_keep_their_end() -> None:
    (series,) = _series((item(3, 1, "Rent", 5.0, caption="word " * 100 + "lease cost"),))
    assert series.text.endswith("lease cost | Note 7")
    assert len(series.text) < 200


def _due(row: int, year: int, value: float, **changes: object) -> LineItem:
    return item(
        3, row, str(year), value, period_end=dt.date(year, 12, 31), months=None, section="Benefits due:", **changes
    )


def test_rows_that_are_headed_by_years_are_one_series_a_column() -> None:
    plans = {"column_label": "U.S. plans"}
    others = {"column_label": "Other plans", "column": 2}
    rows = [_due(n, 2022 + n, 10.0 * n, **head) for n in (1, 2, 3) for head in (plans, others)]
    after = item(3, 4, "Thereafter", 99.0, period_end=None, months=None, section="Benefits due:", **plans)
    found = {series.text: [cell.item.text for cell in series.cells] for series in _series((*rows, after))}
    assert found == {
        "2023 to 2025 | Benefits due: | U.S. plans | amount | Note 7": ["10", "20", "30"],
        "2023 to 2025 | Benefits due: | Other plans | amount | Note 7": ["10", "20", "30"],
        "Thereafter | Benefits due: | U.S. plans | amount | Note 7": ["99"],
    }


def test_years_that_come_twice_in_a_table_stay_rows() -> None:
    rows = [_due(n, year, 10.0 * n) for n, year in enumerate((2023, 2024, 2023, 2024), start=1)]
    assert [len(series.cells) for series in _series(tuple(rows))] == [1, 1, 1, 1]


def test_series_of_whole_pages_are_found_once_and_number_their_cells() -> None:
    source = facts(ITEMS)
    for pages in ((3, 5), (5, 3), (5,)):
        cells = PageCells(source).read([passage(page) for page in pages])
        found = numbered_series(cells, source)
        assert [series for _, series in found] == series_of(cells)
        assert all(tuple(cells[number] for number in numbers) == series.cells for numbers, series in found)


def test_other_cells_of_a_page_make_other_series() -> None:
    source = facts(ITEMS)
    cells = PageCells(source).read([passage(3)])
    assert len(numbered_series(cells, source)) == 2
    assert [series for _, series in numbered_series(cells[1:], source)] == series_of(cells[1:])

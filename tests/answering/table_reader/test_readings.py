"""Which cells are computed with one another."""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import replace

from finray.core.filing import LineItem
from finray.core.period import Period
from finray.core.query import Query
from tests.answering.made_up_cells import BEFORE, item
from tests.answering.table_reader.scores import FakeRowReader, readings_by


def _computed(
    items: tuple[LineItem, ...],
    reader: FakeRowReader,
    *,
    last_years: int | None = None,
    pages: tuple[int, ...] = (3,),
    asked: tuple[int, ...] = (),
) -> set[tuple[str, ...]]:
    """The operation and the printed figures of each reading."""
    text = "How do these figures compare?"
    query = Query(text, text, ("acme",), periods=tuple(map(Period, asked)), last_years=last_years)
    found = readings_by(reader, items, query, pages)
    return {(each.operation, *(cell.item.text for cell in found.cells_of(each))) for each in found.readings}


def test_rows_of_different_years_meet_in_their_column() -> None:
    rows = (item(3, 1, "2022", 368.0), replace(item(3, 2, "2021", 401.0), period_end=BEFORE))
    assert ("growth", "401", "368") in _computed(rows, FakeRowReader("growth", "2021", "2022"))


def test_a_share_of_the_total_of_the_same_row() -> None:
    due = item(3, 1, "Fixed rate", 4055.0, column_label="Due first")
    total = replace(due, value=44884.0, text="44,884", column=2, column_label="Total")
    assert ("share", "4,055", "44,884") in _computed((due, total), FakeRowReader("share", "Due", "Total"))


def test_no_number_is_divided_by_money() -> None:
    rows = (
        item(3, 1, "Ratio of earnings to fixed charges", 7.2, text="7.2", unit="pure"),
        item(3, 2, "Total fixed charges", 3423.0),
        item(3, 3, "Customers", 12.0, unit="pure"),
    )
    found = _computed(rows, FakeRowReader("ratio", "Total", "Customers"))
    assert ("ratio", "3,423", "12") in found
    assert not {each for each in found if each[0] == "ratio" and each[2] == "3,423"}


def test_any_two_likely_rows_are_added_up() -> None:
    rows = tuple(item(3, row, label, 10.0 * row) for row, label in enumerate(("Tea", "Juice", "Milk"), start=1))
    added = _computed(rows, FakeRowReader("sum", "Tea", listed=("Tea", "Milk")))
    assert {frozenset(pair) for _, *pair in added if len(pair) == 2} == {
        frozenset(pair) for pair in itertools.combinations(("10", "20", "30"), 2)
    }


def test_proceeds_and_repayments_add_up_with_their_signs() -> None:
    rows = (item(3, 1, "Proceeds from debt", 90.0), item(3, 2, "Repayments of debt", -20.0))
    found = readings_by(FakeRowReader("sum", listed=("Proceeds", "Repayments")), rows)
    values = {reading.operation: value for reading, value in zip(found.readings, found.values, strict=True)}
    assert values["sum"] == 70.0


def test_a_change_of_a_share_is_told_apart_but_not_read() -> None:
    rows = tuple(
        replace(item(3, row, label, value), period_end=end, column=column)
        for row, label, latest, before in ((1, "Tea", 30.0, 20.0), (2, "Sales", 200.0, 160.0))
        for column, (value, end) in enumerate(((latest, item(3, 1, "", 0.0).period_end), (before, BEFORE)), start=1)
    )
    assert {operation for operation, *_ in _computed(rows, FakeRowReader("share_change", "Tea", "Sales"))} == {"value"}


def test_the_years_that_a_question_counts_are_added_up() -> None:
    sold = item(3, 1, "Sold", 1.0)
    years = [replace(sold, value=v, text=str(v), column=v, period_end=dt.date(2023 - v, 12, 31)) for v in range(1, 6)]
    reader = FakeRowReader("sum", "Sold")
    assert ("sum", "3", "2", "1") in _computed(tuple(years), reader, last_years=3)
    assert ("sum", "3", "2", "1") not in _computed(tuple(years), reader)


def test_what_is_due_in_several_years_is_added_up_as_one_row() -> None:
    rows = [item(3, n, str(2022 + n), 10.0 * n, period_end=dt.date(2022 + n, 12, 31), months=None) for n in range(1, 6)]
    assert ("sum", "10", "20", "30", "40", "50") in _computed(tuple(rows), FakeRowReader("sum", "2023"))


def test_the_first_three_months_are_six_months_less_the_last_three() -> None:
    half = item(3, 1, "Net sales", 60.0, months=6, caption="Six months")
    quarter = item(5, 1, "Net sales", 25.0, months=3, caption="Three months")
    reader = FakeRowReader("difference", "Six months", "Three months")
    assert ("difference", "60", "25") in _computed((half, quarter), reader, pages=(3, 5))


def test_two_named_years_are_added_up_without_the_others_of_the_row() -> None:
    paid = item(3, 1, "Paid", 19.0)
    years = [
        replace(paid, value=20.0 - back, text=str(20 - back), column=back, period_end=dt.date(2023 - back, 12, 31))
        for back in (1, 2, 3)
    ]
    added = _computed(tuple(years), FakeRowReader("sum", "Paid"), asked=(2021, 2022))
    assert [figures for operation, *figures in added if operation == "sum"] == [["19", "18"]]

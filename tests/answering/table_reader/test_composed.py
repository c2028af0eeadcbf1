"""Computations on sums, differences, shares and products of rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from finray.answering.table_reader.operations import ARITHMETIC, COMPOSED, Operation, result, roles_of
from finray.answering.table_reader.table_answerer import COMPOSED_ROWS, ROWS
from finray.core.filing import LineItem
from finray.core.query import Query
from tests.answering.made_up_cells import BEFORE, item
from tests.answering.table_reader.scores import FakeRowReader, readings_by


def _two_years(row: int, label: str, now: float, before: float) -> tuple[LineItem, LineItem]:
    latest = item(3, row, label, now)
    return latest, replace(latest, value=before, text=f"{before:,.0f}", period_end=BEFORE, column=2)


_ROWS = (*_two_years(1, "Tea", 30.0, 20.0), *_two_years(2, "Juice", 50.0, 60.0), *_two_years(3, "Sales", 200.0, 160.0))


def _computed(reader: FakeRowReader, items: tuple[LineItem, ...] = _ROWS) -> dict[tuple[str, ...], float]:
    """The value of each reading by its operation and printed figures."""
    found = readings_by(reader, items)
    return {
        (each.operation, *(cell.item.text for cell in found.cells_of(each))): float(value)
        for each, value in zip(found.readings, found.values, strict=True)
    }


@pytest.mark.parametrize(
    ("reader", "reading", "value"),
    [
        (FakeRowReader("share_change", "Tea", "Sales"), ("30", "200", "20", "160"), 30 / 200 - 20 / 160),
        (FakeRowReader("share_average", "Tea", "Sales"), ("20", "160", "30", "200"), (20 / 160 + 30 / 200) / 2),
        (FakeRowReader("sum_share", second="Sales", listed=("Tea", "Juice")), ("30", "50", "200"), 80 / 200),
        (FakeRowReader("sum_ratio", second="Sales", listed=("Tea", "Juice")), ("20", "60", "160"), 80 / 160),
        (FakeRowReader("part_share", "Tea", listed=("Tea", "Juice")), ("30", "50"), 30 / 80),
        (FakeRowReader("rest_share", "Tea", "Sales"), ("30", "200"), 170 / 200),
        (FakeRowReader("sum_change", listed=("Tea", "Juice")), ("30", "50", "20", "60"), 80 - 80),
        (FakeRowReader("gap_change", "Sales", "Tea"), ("200", "30", "160", "20"), 170 - 140),
        (FakeRowReader("sum_growth", listed=("Tea", "Sales")), ("200", "30", "160", "20"), 230 / 180 - 1),
        (FakeRowReader("gap_growth", "Sales", "Tea"), ("200", "30", "160", "20"), 170 / 140 - 1),
        (FakeRowReader("net", "Sales", listed=("Tea", "Juice")), ("200", "30", "50"), 120),
        (FakeRowReader("sum_less", second="Sales", listed=("Tea", "Juice")), ("30", "50", "200"), -120),
        (FakeRowReader("change_share", "Tea", "Sales"), ("30", "200", "20", "160"), 10 / 40),
    ],
)
def test_each_operation_is_computed_in_one_period_or_between_two(
    reader: FakeRowReader, reading: tuple[str, ...], value: float
) -> None:
    assert _computed(reader)[(reader.operation, *reading)] == pytest.approx(value)


def test_shares_times_an_amount_per_share() -> None:
    exercised = item(3, 1, "Exercised", 100.0, unit="shares", column_label="Options")
    price = replace(exercised, value=23.5, text="23.50", unit="USD/share", column=2, column_label="Price")
    assert _computed(FakeRowReader("product", "shares", "per share"), (exercised, price))[
        ("product", "100", "23.50")
    ] == pytest.approx(2350.0)


@pytest.mark.parametrize("operation", COMPOSED)
def test_roles_name_cells_that_the_program_uses(operation: Operation) -> None:
    size = 4 if roles_of(operation, 4, several=True).periods or operation == "share_average" else 3
    size = 2 if operation in ("rest_share", "product") else size
    roles = roles_of(operation, size, several=True)
    places = {place for place in (roles.first, roles.second, *roles.summed) if place is not None}
    values = [3.0, 5.0, 7.0, 11.0][:size]
    usual = result(operation, values)
    for place in places:
        changed = [value * 2 if at == place else value for at, value in enumerate(values)]
        assert result(operation, changed) != usual
    assert ARITHMETIC[operation].kind in ("value", "difference", "growth", "average")


def test_proceeds_and_repayments_add_up_with_their_signs() -> None:
    proceeds = _two_years(1, "Proceeds from debt", 90.0, 70.0)
    repaid = _two_years(2, "Repayments of debt", -20.0, -30.0)
    computed = _computed(FakeRowReader("sum_change", listed=("Proceeds", "Repayments")), (*proceeds, *repaid))
    assert computed[("sum_change", "90", "-20", "70", "-30")] == pytest.approx(70 - 40)


@pytest.mark.parametrize(("operation", "read"), [("value", ROWS), ("share_change", COMPOSED_ROWS)])
def test_more_rows_are_read_for_a_computation_over_several(operation: str, read: int) -> None:
    rows = tuple(item(3, number, f"Cost of product {number}", 10.0 * number) for number in range(1, 31))
    text = "What does each product cost?"
    found = readings_by(FakeRowReader(operation, "product"), rows, Query(text, text, ("acme",)))
    assert len(found.shortlist.series) == read

"""Line items of sentences."""

from __future__ import annotations

import datetime as dt

import pytest

from finray.core.filing import Filing, FiscalPeriod, LineItem, Page
from finray.filings.prose.line_items import prose_items

RENT = "Rental expense was $17 million and $15 million for the years ended December 31, 2024 and 2023, respectively."


def _filing(period: FiscalPeriod = "FY", end: dt.date = dt.date(2024, 12, 31)) -> Filing:
    form = "10-K" if period == "FY" else "10-Q"
    return Filing(
        "f" * 20, "ACME", "acme.html", "0" * 64, "Acme Inc.", form,
        period_end=end, fiscal_year=2024, fiscal_period=period,
    )  # fmt: skip


def _items(text: str, filing: Filing | None = None, tables: tuple[LineItem, ...] = ()) -> list[LineItem]:
    return prose_items(Page(3, text), filing or _filing(), tables)


def test_a_list_is_a_row_with_a_column_for_each_period() -> None:
    first, second = _items(RENT)
    assert (first.label, first.value, first.unit, first.text) == ("Rental expense", 17e6, "USD", "$17 million")
    assert (first.period_end, first.months) == (dt.date(2024, 12, 31), 12)
    assert (second.period_end, second.value) == (dt.date(2023, 12, 31), 15e6)
    assert first.row == second.row
    assert first.column != second.column


def test_balances_are_of_a_day() -> None:
    items = _items("The allowance for returns was $5 million and $4 million as of December 31, 2024 and 2023.")
    assert [(item.period_end, item.months) for item in items] == [
        (dt.date(2024, 12, 31), 0),
        (dt.date(2023, 12, 31), 0),
    ]


def test_a_bare_year_is_the_fiscal_year_also_in_a_quarterly_report() -> None:
    text = "Future lease payments as of that day are $5 million in 2025 and $10 million in 2026 under these leases."
    items = _items(text, _filing("Q2", dt.date(2024, 6, 30)))
    assert [item.period_end for item in items] == [dt.date(2025, 12, 31), dt.date(2026, 12, 31)]


def test_quarters_end_within_the_fiscal_year() -> None:
    text = (
        "Impairments totaled $900 million in the third quarter of 2024 and $791 million in the fourth quarter of 2024."
    )
    assert [(item.period_end, item.months) for item in _items(text)] == [
        (dt.date(2024, 9, 30), 3), (dt.date(2024, 12, 31), 3),
    ]  # fmt: skip


def test_amounts_without_a_scale_have_that_of_the_tables_beside_them() -> None:
    text = (
        "Depreciation expense amounted to $405 and $392 for the years ended December 31, 2024 and 2023, respectively."
    )
    row = LineItem(3, None, "Total", 1e6, "1", "USD", 10**6, dt.date(2024, 12, 31), 12)
    assert [item.value for item in _items(text, tables=(row,))] == [405e6, 392e6]
    assert [item.value for item in _items(text)] == [405.0, 392.0]


def test_amounts_are_in_dollars_if_another_is_written_in_full() -> None:
    row = LineItem(3, None, "Total", 1e6, "1", "USD", 10**3, dt.date(2024, 12, 31), 12)
    text = (
        "We paid fees of $500 and $700 in 2024 and 2023, respectively. In all, the Company spent about $1,250,000 on "
        "the advice of lawyers in 2024."
    )
    assert [item.value for item in _items(text, tables=(row,))] == [500.0, 700.0]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Net income per common share was $4.38 and $4.57 for fiscal 2024 and 2023, respectively.", "USD/share"),
        ("Sales abroad accounted for 53% and 56% of total revenue for fiscal 2024 and 2023, respectively.", "percent"),
        ("There were 12 million shares and 11 million shares left to grant at the end of 2024 and 2023.", "shares"),
        ("We had 95 active leases in 2024 and 103 active leases in 2023 in our whole portfolio.", "pure"),
    ],
)
def test_units(text: str, unit: str) -> None:
    assert {item.unit for item in _items(text)} <= {unit}


def test_text_without_a_list_has_no_items() -> None:
    assert _items("We paid rent of $17 million for the year ended December 31, 2024.") == []


def test_an_infinite_number_is_not_a_figure() -> None:
    assert len(_items(f"Rental expense of all stores was ${'9' * 400} and $15 million in 2024 and 2023.")) <= 1

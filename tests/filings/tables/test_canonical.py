"""Rows found by canonical names."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from finray.core.filing import Filing, LineItem, Statement
from finray.core.settings import FilingSettings
from finray.filings.read import parse_filing
from finray.filings.tables.canonical import amount, canonical_items, find_line_item, plain_label

END, BEFORE = dt.date(2022, 12, 31), dt.date(2021, 12, 31)


def _rows(statement: Statement, *rows: tuple[str, float] | tuple[str, float, str], unit: str = "USD") -> list[LineItem]:
    months = 0 if statement == "balance" else 12
    items = []
    for number, (label, value, *rest) in enumerate(rows):
        for column, (end, factor) in enumerate(((END, 1.0), (BEFORE, 0.5)), 1):
            section = rest[0] if rest else None
            printed = f"{value * factor:,.0f}"
            items.append(
                LineItem(1, statement, label, value * factor, printed, unit, 1, end, months, section, number, column)
            )
    return items


def _label(metric: str, items: list[LineItem]) -> str | None:
    found = find_line_item(metric, items, period_end=END)
    return found.label if found else None


def test_the_total_is_preferred_to_its_parts() -> None:
    items = _rows(
        "income", ("Product sales", 80), ("Service sales", 20), ("Total net sales", 100), ("Cost of sales", 60)
    )
    assert _label("revenue", items) == "Total net sales"
    assert _label("cost_of_revenue", items) == "Cost of sales"


def test_net_income_and_what_is_attributable() -> None:
    items = _rows(
        "income",
        ("Net income", 100),
        ("Less: Net income attributable to noncontrolling interests", 5),
        ("Net income attributable to Sample Corp", 95),
        ("Net income from continuing operations", 99),
    )
    assert _label("net_income", items) == "Net income"
    assert _label("net_income_attributable", items) == "Net income attributable to Sample Corp"


def test_a_question_for_the_total_is_answered_by_the_row_called_so() -> None:
    items = _rows("income", ("Net sales", 90), ("Membership and other income", 10), ("Total revenues", 100))
    found = find_line_item("revenue", items, period_end=END, called="total revenue")
    assert found is not None and found.label == "Total revenues"


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([("Short-term borrowings", 3), ("Long-term debt due within one year", 2), ("Long-term debt", 30)], 5),
        ([("Short-term debt obligations", 7), ("Long-term debt obligations", 30)], 7),
        ([("Current portion of long-term debt and short-term borrowings", 9), ("Long-term debt", 30)], 9),
    ],
)
def test_debt_due_within_a_year_has_all_its_rows(rows: list[tuple[str, float]], value: float) -> None:
    found = find_line_item("current_debt", _rows("balance", *rows), period_end=END)
    assert found is not None and found.value == value


def test_purchases_of_property_in_the_investing_section() -> None:
    items = _rows(
        "cash_flow",
        ("Proceeds from sales of property and equipment", 3, "Investing activities"),
        ("Purchases of property and equipment", -50, "Investing activities"),
        ("Property and equipment acquired under finance leases", 9, "Supplemental information"),
    )
    found = find_line_item("capex", items, period_end=END)
    assert found is not None and found.value == -50
    assert amount("capex", found) == 50


def test_liabilities_are_not_equity() -> None:
    items = _rows(
        "balance",
        ("Total liabilities", 60),
        ("Total stockholders’ equity", 40),
        ("Total liabilities and stockholders’ equity", 100),
    )
    assert _label("equity", items) == "Total stockholders’ equity"
    assert _label("total_liabilities", items) == "Total liabilities"


def test_inventories_without_a_total_are_added_up() -> None:
    items = _rows(
        "balance",
        ("Raw materials", 10, "Inventories, net"),
        ("Finished goods", 30, "Inventories, net"),
        ("Prepaid expenses", 5, "Inventories, net"),
    )
    found = find_line_item("inventory", items, period_end=END)
    assert found is not None and found.value == 40


def test_earnings_per_share_under_a_heading() -> None:
    items = _rows("income", ("Net income", 2.2, "Diluted earnings per share:"), unit="USD/share")
    assert _label("eps_diluted", items) == "Net income"
    assert _label("eps_basic", items) is None


def test_period_by_date_or_fiscal_year() -> None:
    items = _rows("income", ("Revenue", 100))
    filing = Filing("id", "doc", "uri", "0" * 64, "Sample", "10-K", period_end=END, fiscal_year=2022)
    before = find_line_item("revenue", items, fiscal_year=2021, filing=filing)
    assert before is not None and before.period_end == BEFORE
    assert find_line_item("revenue", items, period_end=dt.date(2019, 12, 31)) is None
    latest = find_line_item("revenue", items)
    assert latest is not None and latest.period_end == END


def test_unknown_metric() -> None:
    with pytest.raises(KeyError):
        find_line_item("happiness", [])


def test_tax_printed_as_a_deduction_is_still_an_expense() -> None:
    items = _rows(
        "income", ("Income before income taxes", 100), ("Provision for income taxes", -25), ("Net income", 75)
    )
    found = find_line_item("income_tax", items, period_end=END)
    assert found is not None and amount("income_tax", found, items) == 25


def test_labels_lose_notes_and_marks() -> None:
    assert plain_label("Cost of sales (a)") == "cost of sales"
    assert plain_label("Goodwill, net (Note 10)") == "goodwill, net"
    assert plain_label("Property — net") == "property - net"


def test_the_vocabulary_is_sound() -> None:
    names = [name.lower() for item in canonical_items().values() for name in item.names]
    assert len(names) == len(set(names))
    assert len(canonical_items()) >= 60


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", ["AMAZON_2019_10K", "PEPSICO_2019_10K", "AMCOR_2023_10K", "JPMORGAN_2022Q2_10Q"])
def test_real_statements_add_up(shared_data: Path, name: str) -> None:
    path = shared_data / "financebench" / "pdfs" / f"{name}.pdf"
    items = parse_filing(path.read_bytes(), str(path), FilingSettings()).line_items
    assets, both = find_line_item("total_assets", items), find_line_item("liabilities_and_equity", items)
    pretax, tax = find_line_item("pretax_income", items), find_line_item("income_tax", items)
    net = find_line_item("net_income", items)
    assert assets and both and pretax and tax and net
    assert assets.value == both.value > 0
    assert abs(pretax.value - amount("income_tax", tax, items) - net.value) <= 0.05 * net.value

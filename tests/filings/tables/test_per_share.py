"""Prices and amounts per share in tables of thousands and millions."""

from __future__ import annotations

import pytest

from finray.core.filing import Statement
from finray.filings.tables.line_items import extract_line_items
from tests.filings.tables.printed import ANNUAL, grid_of


def _units(rows: str, statement: Statement | None, caption: str = "") -> dict[str, tuple[float, str]]:
    """The first figure of each row and its unit, by section and label."""
    items = extract_line_items([grid_of(rows, caption)], "Consolidated (in millions)", statement, ANNUAL)
    found: dict[str, tuple[float, str]] = {}
    for item in items:
        found.setdefault(f"{item.section or ''}{item.label}", (item.value, item.unit))
    return found


@pytest.mark.parametrize(
    "heading",
    ["Net income per share, diluted:", "Earnings per common share", "Dividends declared per share", "Diluted EPS:"],
)
@pytest.mark.parametrize("label", ["Class A", "Class B common", "Basic", "Series C", "Ordinary", "Founders"])
def test_rows_below_a_heading_per_share(heading: str, label: str) -> None:
    rows = f"~ | 2022 | 2021\nRevenues | 5,120 | 4,890\nNet income | 780 | 690\n{heading}\n{label} | 4.12 | 3.65"
    assert _units(rows, "income")[heading + label] == (4.12, "USD/share")


@pytest.mark.parametrize(
    "label",
    [
        "Market price of common stock",
        "Stock price",
        "Closing stock price at year end",
        "Exercise price",
        "Average price paid per share",
        "Price of our common stock",
    ],
)
@pytest.mark.parametrize("statement", ["income", None])
def test_prices_of_shares(label: str, statement: Statement | None) -> None:
    rows = f"~ | 2022 | 2021\nRevenues | $ 5,120 | $ 4,890\n{label} | $170.50 | $141.25\nNet income | 780 | 690"
    found = _units(rows, statement)
    assert found[label] == (170.5, "USD/share")
    assert found["Revenues"] == (5.12e9, "USD")


def test_a_bridge_from_reported_to_adjusted_earnings_per_share() -> None:
    rows = """~ | 2022 | 2021
    Net income | 780 | 690
    Restructuring charges | 35 | 12
    Diluted earnings per share | $2.10 | $1.80
    Restructuring | 0.09 | 0.03
    Return on assets | 1.25 | 1.11"""
    found = _units(rows, None)
    assert found["Restructuring"] == (0.09, "USD/share")
    assert found["Restructuring charges"] == (35e6, "USD")
    assert found["Return on assets"][1] != "USD/share"


def test_columns_of_prices() -> None:
    rows = """~ | Shares | Weighted-Average Remaining Exercise Price | Intrinsic Value
    Outstanding, January 1 | 12 | $31.60 | $ 250
    Granted | 3 | 41.89 | 40
    Exercised | 2 | 28.31 | 30"""
    items = extract_line_items([grid_of(rows)], "Compensation (dollars in millions)", None, ANNUAL)
    assert {item.text: item.unit for item in items if "." in item.text} == dict.fromkeys(
        ("$31.60", "41.89", "28.31"), "USD/share"
    )
    assert {item.value for item in items if item.text == "$ 250"} <= {250e6}


def test_amounts_with_decimals_stay_amounts() -> None:
    rows = "~ | 2022 | 2021\nRevenues | 512.25 | 489.10\nCosts | 12.50 | 11.75\nNet income | 78.05 | 69.35"
    assert _units(rows, "income")["Costs"] == (12.5e6, "USD")
    assert _units(rows, None)["Costs"] == (12.5e6, "USD")

"""Numbers as Europe prints them."""

from __future__ import annotations

import pytest

from tests.filings.tables.printed import grid_of


def _texts(rows: str, caption: str = "") -> list[list[str]]:
    return [[cell.text for cell in row] for row in grid_of(rows, caption).rows]


@pytest.mark.parametrize("separator", [" ", "\xa0", "\u2009", "\u202f", "’", "'", "."])
@pytest.mark.parametrize("decimals", ["2.10 | 1.80", "2,10 | 1,80"])
def test_thousands_of_a_whole_table(separator: str, decimals: str) -> None:
    rows = f"""~ | 2024 | 2023
    Revenue | 120_450 | 1_110_320
    Cost of revenue | (70_210) | (965_110)
    Other income | 450 | 320
    Profit | 50_690 | 145_530
    Diluted earnings per share | {decimals}""".replace("_", separator)
    *amounts, share = _texts(rows, "(In thousands)")[1:]
    found = [[cell.replace("'", ",").replace("’", ",") for cell in row[1:]] for row in amounts]
    assert found == [["120,450", "1,110,320"], ["(70,210)", "(965,110)"], ["450", "320"], ["50,690", "145,530"]]
    assert share[1:] == ["2.10", "1.80"]


@pytest.mark.parametrize(
    "rows",
    [
        "~ | 2024 | 2023\nEarnings per share | 2.101 | 0.450\nDividends per share | 1.250 | 1.125",
        "~ | 2024 | 2023\nEuro | 1.082 | 1.104\nPound | 1.278 | 1.243\nFranc | 1.136 | 1.113",
        "~ | 2024 | 2023\nSales | 1,120.450 | 1,110.320\nOther | 120.450 | 110.320",
        "~ | 2024 | 2023\nUnit value | 120.450 | 110.320\nUnits | 12.125 | 11.250",
    ],
)
def test_decimals_of_the_united_states_stay(rows: str) -> None:
    expected = [[cell.strip() for cell in row.split("|") if cell.strip() != "~"] for row in rows.split("\n")]
    assert _texts(rows) == expected


def test_decimals_behind_a_comma() -> None:
    assert _texts("~ | 2024 | 2023\nMargin | 12,5% | 11,25%\nGrowth | 7,5% | 6,1%")[1:] == [
        ["Margin", "12.5%", "11.25%"],
        ["Growth", "7.5%", "6.1%"],
    ]


def test_small_negatives_take_the_style_of_large_ones() -> None:
    rows = "~ | 2024 | 2023\nTax | [6,010] | [45]\nInterest | [12] | 1,234"
    assert _texts(rows)[1:] == [["Tax", "(6,010)", "(45)"], ["Interest", "(12)", "1,234"]]
    rows = "~ | 2024 | 2023\nTax | 6,010- | 45-\nInterest | 12- | 1,234"
    assert _texts(rows)[1:] == [["Tax", "(6,010)", "(45)"], ["Interest", "(12)", "1,234"]]

"""Columns of references to notes."""

from __future__ import annotations

import pytest

from finray.filings.tables.line_items import extract_line_items
from tests.filings.tables.printed import ANNUAL, grid_of


def _figures(rows: str) -> list[tuple[str, float]]:
    items = extract_line_items([grid_of(rows)], "Balance sheet (in thousands)", "balance", ANNUAL)
    return [(item.label, item.value) for item in items]


RIGHT = [("Plant", 82_075e3), ("Plant", 92_846e3), ("Goodwill", 5_123e3), ("Goodwill", 5_671e3), ("Cash", 8_255e3)]


@pytest.mark.parametrize("head", ["Note", "Notes", "Note no.", "Ref.", "Footnote", "NOTES"])
@pytest.mark.parametrize(
    "years", ["December 31, 2022 | December 31, 2021", "Year ended June 30, 2022 | 2021", "2022 | 2021"]
)
@pytest.mark.parametrize("references", ["7 | 9 | 6", "7, 8 | 12(a) | 4.1", "21 | 3 and 4 | 5-7"])
def test_references_are_not_figures(head: str, years: str, references: str) -> None:
    plant, goodwill, cash = (each.strip() for each in references.split("|"))
    rows = f"""~ | {head} | {years}
    Plant | {plant} | 82,075 | 92,846
    Goodwill | {goodwill} | 5,123 | 5,671
    Cash | {cash} | 8,255 | 5,563
    Total assets | ~ | 95,453 | 104,080"""
    assert _figures(rows)[:5] == RIGHT


def test_references_without_a_heading() -> None:
    rows = """~ | ~ | December 31, 2022 | December 31, 2021
    Plant | 7 | 82,075 | 92,846
    Goodwill | 9 | 5,123 | 5,671
    Cash | 11 | 8,255 | 5,563
    Inventories | 12 | 4,120 | 4,055
    Total assets | ~ | 95,453 | 104,080"""
    assert _figures(rows)[:5] == RIGHT


@pytest.mark.parametrize("head", ["Stores", "Employees", "Number of sites", "Years"])
def test_headed_counts_stay(head: str) -> None:
    rows = f"~ | {head} | Sales\nNorth | 4 | 82,075\nSouth | 7 | 92,846\nEast | 8 | 12,300\nWest | 11 | 14,700"
    assert ("North", 4e3) in _figures(rows)


def test_notes_that_are_debts_stay() -> None:
    rows = "~ | Notes | Loans | Total\nBank A | 50 | 30 | 80\nBank B | 20 | 15 | 35"
    assert ("Bank A", 50e3) in _figures(rows)
    rows = "~ | Notes | Loans\nBank A | 5,000 | 3,100\nBank B | 20 | 1,500"
    assert ("Bank B", 20e3) in _figures(rows)

"""Numbers in cells, and the columns that they make."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.tables.cells import Printed, arrange, merge_fillers, number_columns, parse_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", 1234.0),
        ("$ 1,234", 1234.0),
        ("(1,234)", -1234.0),
        ("$(1,234)", -1234.0),
        ("( 12.5 )", -12.5),
        (".85", 0.85),
        ("—", 0.0),
        ("$—", 0.0),
        ("–", 0.0),
        ("-5", -5.0),
        ("12.5%", 12.5),
        ("(3.1)%", -3.1),
        ("€ 7", 7.0),
        ("2,019(a)", 2019.0),
        ("25 bps", 0.25),
        ("12.5¢", 0.125),
    ],
)
def test_numbers(text: str, value: float) -> None:
    number = parse_number(text)
    assert number is not None
    assert number.value == value


@pytest.mark.parametrize(
    "text", ["", "Total", "N/A", "December 31, 2022", "1,23", "Note 12", "2022 2021", "514 and 521"]
)
def test_text_is_not_a_number(text: str) -> None:
    assert parse_number(text) is None


def test_percent_and_currency_are_kept() -> None:
    percent, euros = parse_number("12.5%"), parse_number("€1,000")
    assert percent is not None and percent.percent
    assert euros is not None and euros.currency == "EUR"


def test_fillers_join_their_number() -> None:
    cells = [
        Printed("Loss", 0, 1),
        Printed("$", 2, 3),
        Printed("(5", 3, 4),
        Printed(")", 4, 5),
        Printed("7", 6, 7),
        Printed("%", 7, 8),
    ]
    assert [cell.text for cell in merge_fillers(cells)] == ["Loss", "$(5)", "7%"]


def test_a_number_in_a_label_does_not_make_a_column() -> None:
    rows = [[Printed(f"Row {n}", 0, 10), Printed("1,000", 50, 60), Printed("2,000", 70, 80)] for n in range(20)]
    rows.append([Printed("Shares authorized", 0, 10), Printed("500", 20, 24)])
    assert number_columns(rows) == [(50, 60), (70, 80)]


_cells = st.lists(st.builds(Printed, st.text(max_size=12), st.floats(0, 100), st.floats(100, 200)), max_size=6)


@given(st.lists(_cells, max_size=8))
def test_arranging_any_cells_never_fails(rows: list[list[Printed]]) -> None:
    merged = [merge_fillers(row) for row in rows]
    grid = arrange(0, merged, number_columns(merged))
    assert grid is None or grid.page == 0

"""Units of counts, prices, years and rates in tables outside the statements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import LineItem
from finray.filings.tables.grids import Cell, Grid
from finray.filings.tables.line_items import extract_line_items
from finray.filings.tables.note_units import is_contents, kind_of
from finray.filings.tables.scales import Scale
from tests.filings.tables.printed import ANNUAL, grid_of

MILLIONS = Scale(10**6)


def _read(rows: str, caption: str = "", page: str = "") -> list[LineItem]:
    return extract_line_items([grid_of(rows, caption)], page, None, ANNUAL, usual=MILLIONS)


def _units(rows: str, caption: str = "", page: str = "") -> list[tuple[float, str]]:
    return [(item.value, item.unit) for item in _read(rows, caption, page)]


OPTIONS = """~ | ~ | Weighted-average | Remaining | Aggregate
~ | Shares | Exercise Price | Contractual Term | Intrinsic Value
~ | (Thousands) | Per Share | (Years) | (Millions)
Outstanding, January 1 | 88,600 | $28.39 | ~ | ~
Exercised | (18,492) | 23.05 | ~ | ~
Outstanding, December 31 | 75,402 | $28.31 | 3.1 | $645"""


def test_each_column_of_an_option_table_has_its_own_unit_and_scale() -> None:
    assert _units(OPTIONS, "Stock option activity:")[-6:] == [
        (-18_492_000, "shares"),
        (23.05, "USD/share"),
        (75_402_000, "shares"),
        (28.31, "USD/share"),
        (3.1, "pure"),
        (645e6, "USD"),
    ]


BRIDGE = """~ | 2017 | 2016 | % Change
Diluted EPS | $8.95 | $2.81 | 218.5%
Restructuring expenses | 0.26 | 0.57 | ~
Gain on sale | (0.08) | — | ~
Adjusted EPS | $9.13 | $3.38 | 170.1%"""


def test_what_leads_from_diluted_to_adjusted_earnings_is_per_share() -> None:
    assert _units(BRIDGE)[:8] == [
        (8.95, "USD/share"),
        (2.81, "USD/share"),
        (218.5, "percent"),
        (0.26, "USD/share"),
        (0.57, "USD/share"),
        (-0.08, "USD/share"),
        (0.0, "USD/share"),
        (9.13, "USD/share"),
    ]


def test_the_effect_of_dilutive_awards_on_earnings_per_share_is_no_count() -> None:
    items = _read(
        "(in millions, except per share data) | 2022 | 2021\nDiluted EPS | $0.82 | $0.29\nImpairment | 1.07 | 2.59\n"
        "Interest | 0.09 | 0.10\nEffect of dilutive equity awards | (0.02) | 0.01\nAdjusted EPS | $2.93 | $2.88"
    )
    assert {item.unit for item in items} == {"USD/share"}


def test_what_a_row_measures_counts_more_than_the_shares_over_its_column() -> None:
    items = _read("~ | Stock Options 2022 | Stock Options 2021\nGranted | 120 | 130\nExpected term, years | 6.75 | 6.7")
    assert [(item.value, item.unit) for item in items[2:]] == [(6.75, "pure"), (6.7, "pure")]
    assert {item.unit for item in items[:2]} == {"shares"}


def test_a_change_has_the_unit_of_the_other_changes() -> None:
    items = _read(
        "~ | 2022 | Change | 2022 | Change\nRevenue | $120 | 5% | $80 | NM\n"
        "Expense | 100 | 4 | 60 | (28)\nTax | 9 | 4 | 6 | 11"
    )
    assert [item.unit for item in items if item.text in ("4", "(28)", "11")] == ["percent"] * 4


def test_a_row_in_cents_is_per_share() -> None:
    items = _read("($ in millions) | 2022 | 2021\nNet sales | 14,544 | 14,694\nEPS (diluted US cents) | 52.9 | 70.5")
    assert [(round(item.value, 6), item.unit) for item in items[2:]] == [(0.529, "USD/share"), (0.705, "USD/share")]


def test_the_levels_behind_a_date_have_that_date() -> None:
    items = _read(
        "~ | December 31, 2022 | Level 1 | Level 2 | December 31, 2021 | Level 1 | Level 2\n"
        "Cash | $7 | 3 | 4 | $9 | 4 | 5"
    )
    assert [item.period_end.year for item in items if item.period_end] == [2022] * 3 + [2021] * 3


def test_a_second_set_of_headings_has_its_own_length() -> None:
    items = _read(
        "Three months ended June 30, | 2022 | 2021\nRevenue | 10 | 9\n"
        "Six months ended June 30, | 2022 | 2021\nRevenue | 20 | 19"
    )
    assert [item.months for item in items] == [3, 3, 6, 6]


def test_a_conversion_rate_is_a_ratio() -> None:
    items = _read("(in millions) | Shares Outstanding | Conversion Rate\nSeries B | 2 | 2.9370\nSeries C | 3 | 1.7860")
    assert [(item.value, item.unit) for item in items if item.column == 2] == [(2.937, "pure"), (1.786, "pure")]


def test_amounts_beside_one_figure_per_share_stay_amounts() -> None:
    units = _units(BRIDGE.replace("0.26", "26.1"))
    assert (26.1e6, "USD") in units
    assert (0.57, "USD/share") in units


def test_large_counts_are_not_in_the_scale_of_the_amounts() -> None:
    rows = (
        "~ | Number of Units | Grant Date Fair Value (per share)\n"
        "Granted | 3,087,495 | $37.50\nVested | (42,148) | 33.41"
    )
    assert _units(rows, "(in millions)") == [
        (3_087_495, "shares"),
        (37.5, "USD/share"),
        (-42_148, "shares"),
        (33.41, "USD/share"),
    ]


def test_a_footnote_gives_the_scale_of_the_options() -> None:
    rows = "~ | Options(a) | Price\nExercised | (7,136) | $ 65"
    assert _units(rows, page="(a) Options are in thousands and include options granted before.")[0] == (
        -7_136_000,
        "shares",
    )


def test_the_scale_of_shares_elsewhere_on_the_page_is_not_that_of_amounts() -> None:
    rows = "~|2022|2021\nIntrinsic value|$9|$10"
    page = "Option activity:\nShares (in thousands)\n711\nOptions exercised during the years ended December 31:"
    assert _units(rows, page=page) == [(9e6, "USD"), (10e6, "USD")]
    assert _units(rows, page="Amounts and shares in thousands") == [(9e3, "USD"), (10e3, "USD")]


def test_the_scale_of_shares_in_a_title_is_that_of_the_column_of_shares_alone() -> None:
    rows = "~|Shares (in thousands)|Weighted Average Grant Date Fair Value\nGranted|107|$53.51\nVested|(57)|54.10"
    assert _units(rows) == [(107e3, "shares"), (53.51, "USD/share"), (-57e3, "shares"), (54.1, "USD/share")]
    lost = "~|~|Aggregate Intrinsic Value\nOutstanding|711|$29"
    assert _units(lost, caption="Stock options (shares in thousands):") == [(711e3, "shares"), (29e6, "USD")]


def test_a_scale_over_one_group_of_columns_is_not_that_of_the_others() -> None:
    rows = "~ | Revenues (in millions) | % of Total | Customers (in thousands)\nNorth | $730 | 25.4% | 671"
    assert _units(rows) == [(730e6, "USD"), (25.4, "percent"), (671e3, "USD")]
    rows = rows.replace("Customers", "Number of Customers")
    assert _units(rows)[2] == (671e3, "pure")


@pytest.mark.parametrize(
    ("label", "figure", "unit"),
    [
        ("Weighted-average grant-date fair value of options granted", "$9.88", (9.88, "USD/share")),
        ("Total number of stores", "412", (412, "pure")),
        ("Remaining lease term (in years)", "10.1", (10.1, "pure")),
        ("Ratio of earnings to fixed charges", "7.2", (7.2, "pure")),
        ("Average spending (dollars)", "$23,496", (23_496, "USD")),
        ("Discount rate", "4.5", (4.5, "percent")),
        ("Interest rate swaps", "4.5", (4.5e6, "USD")),
        ("Aluminum", "29,342 tons", (29_342, "pure")),
        ("Change in margin", "(25) bps", (-0.25, "percent")),
        ("Stock options", "106", (106e6, "USD")),
    ],
)
def test_a_row_may_name_its_unit(label: str, figure: str, unit: tuple[float, str]) -> None:
    assert _units(f"~ | 2022\n{label} | {figure}\nRevenues | 1,200") == [unit, (1.2e9, "USD")]


def test_a_table_of_unit_counts_holds_no_amounts() -> None:
    rows = "State | Supercenters | Clubs\nFlorida | 221 | 47\nGeorgia | 151 | 24"
    assert set(_units(rows, "Unit counts by state and territory are as follows:")) == {
        (221, "pure"),
        (47, "pure"),
        (151, "pure"),
        (24, "pure"),
    }
    assert {
        unit
        for _, unit in _units(rows.replace("221", "$221").replace("Clubs", "Other"), "Unit counts and sales by state:")
    } == {"USD"}


def test_bare_figures_below_a_percentage_are_percentages() -> None:
    rows = "~ | 2022 | 2021\nStatutory rate | 35.0% | 35.0%\nForeign operations | (13.8) | (9.6)\nTotal | 21.2% | 25.4%"
    assert (-13.8, "percent") in _units(rows)


def test_returns_on_100_dollars_are_in_plain_dollars() -> None:
    rows = "~ | Sample Corp | Index\nDecember 31, 2020 | $100.00 | $100.00\nDecember 31, 2022 | 58.45 | 94.80"
    assert _units(rows)[2:] == [(58.45, "USD"), (94.8, "USD")]


def test_years_in_a_range_are_not_figures() -> None:
    items = _read("~ | From | To | Amount\nFixed | 2022 | 2050 | 35,216\nVariable | 2023 | 2030 | 750")
    assert [item.text for item in items] == ["35,216", "750"]


def test_a_row_without_label_is_named_by_its_texts() -> None:
    items = _read("Rate | Maturity | Amount\n3.450% | October 2046 | $622\n4.000% | May 2047 | $212")
    assert ("October 2046", 622e6) in [(item.label, item.value) for item in items]


def test_a_second_set_of_headings_needs_no_period() -> None:
    rows = "~ | North | South\nStores | 5 | 6\n~ | Eastern | Western\nStores | 7 | 8"
    labels = [item.column_label for item in _read(rows)]
    assert labels == ["North", "South", "Eastern", "Western"]


def test_titles_with_page_numbers_are_not_line_items() -> None:
    contents = "9.01 | Notices | 18\n9.02 | Costs | 19\n9.03 | Law | 19\n9.04 | Taxes | 21\n9.05 | Signatures | 23"
    assert is_contents(grid_of(contents))
    assert _read(contents) == []
    assert not is_contents(grid_of("Year | Payments\n2023 | 18\n2024 | 19\n2025 | 20\n2026 | 21\n2027 | 23"))


@pytest.mark.parametrize(
    "text", ["Over 1 to 5 (in years)", "Restricted stock units", "Interest rate swaps", "Net sales", ""]
)
def test_amounts_have_no_kind(text: str) -> None:
    assert kind_of(text) is None


_text = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["100", "$5", "7%", "(Thousands)", "Shares", "per share", "(years)", "2022", "—", "3 tons", "1.5x"]
    ),
)
_rows = st.lists(
    st.lists(st.builds(Cell, _text, st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=5).map(tuple),
    max_size=9,
).map(tuple)


@given(st.builds(Grid, st.just(0), _rows, _text), st.text(max_size=80))
def test_any_table_never_fails(grid: Grid, page: str) -> None:
    for item in extract_line_items([grid], page, None, ANNUAL, usual=MILLIONS):
        assert item.label
        assert item.unit


@pytest.mark.parametrize("head", ["Number", "Units"])
def test_awards_beside_their_price_are_shares(head: str) -> None:
    grid = grid_of(f"~ | {head} | Weighted Average Grant Date Fair Value\nGranted | 3,221,842 | $253.29")
    items = extract_line_items([grid], "(in millions)", None, ANNUAL)
    assert [(item.unit, item.value) for item in items] == [("shares", 3_221_842), ("USD/share", 253.29)]


@pytest.mark.parametrize("label", ["Awards granted", "Shares purchased", "Shares repurchased in the open market"])
def test_a_row_of_securities_and_what_became_of_them_counts_shares(label: str) -> None:
    grid = grid_of(f"~ | 2022\n{label} | 64\nTotal cost | $16,713")
    counted, cost = extract_line_items([grid], "(in millions)", None, ANNUAL)
    assert (counted.unit, counted.value, cost.unit) == ("shares", 64e6, "USD")


@pytest.mark.parametrize(
    ("label", "figure"),
    [
        ("Overhead ratio", "62"),
        ("Liquidity coverage ratio (“LCR”) (average)", "110"),
        ("Net charge-off rate", "0.06"),
        ("% of loans past due to total loans", "0.52"),
    ],
)
def test_ratios_and_rates_beside_amounts_are_percentages(label: str, figure: str) -> None:
    grid = grid_of(f"~ | 2022\nTotal loans | 47,260\n{label} | {figure}")
    _, item = extract_line_items([grid], "(in millions, except ratios)", None, ANNUAL)
    assert (item.unit, item.value) == ("percent", float(figure))


def test_amounts_of_rate_contracts_stay_amounts() -> None:
    grid = grid_of("~ | 2022\nInterest rate contracts | 47.2\nInterest rate | 7,352")
    assert {item.unit for item in extract_line_items([grid], "(in millions)", None, ANNUAL)} == {"USD"}

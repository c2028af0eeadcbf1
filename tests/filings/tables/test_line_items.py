"""Numbers with label, unit and period."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing, LineItem, Statement
from finray.filings.tables.grids import Cell, Grid
from finray.filings.tables.line_items import extract_line_items
from tests.filings.tables.printed import ANNUAL, grid_of

QUARTER = replace(ANNUAL, form="10-Q", period_end=dt.date(2022, 6, 30), fiscal_period="Q2")


def _read(
    rows: str,
    statement: Statement | None = "income",
    *,
    head: str = "(in millions, except per share data)",
    filing: Filing = ANNUAL,
) -> list[LineItem]:
    return extract_line_items([grid_of(rows)], head, statement, filing)


def _one(items: list[LineItem], label: str, column: int = 1) -> LineItem:
    return next(item for item in items if item.label == label and item.column == column)


def test_values_are_scaled_signed_and_placed() -> None:
    items = _read("~ | 2022 | 2021\nNet sales | $1,200 | $1,100\nOther loss | (5) | —")
    sales, loss, dash = _one(items, "Net sales"), _one(items, "Other loss"), _one(items, "Other loss", 2)
    assert (sales.value, sales.unit, sales.scale, sales.page, sales.text) == (1.2e9, "USD", 10**6, 4, "$1,200")
    assert (sales.period_end, sales.months) == (dt.date(2022, 12, 31), 12)
    assert loss.value == -5e6
    assert (dash.value, dash.period_end) == (0.0, dt.date(2021, 12, 31))


def test_empty_cells_yield_nothing() -> None:
    assert len(_read("~ | 2022 | 2021\nNet sales | 1,200 | 1,100\nImpairment | ~ | 7")) == 3


def test_per_share_rows_and_share_counts() -> None:
    items = _read("""~ | 2022 | 2021
Net income | 220 | 192
Earnings per share: | ~ | ~
Basic | $ 2.25 | $ 1.95
Diluted | 2.20 | 1.92
Weighted average shares outstanding: | ~ | ~
Basic | 98 | 98
Diluted | 100 | 100
Dividends declared per share | 0.50 | 0.40""")
    units = [(item.label, item.unit, item.value) for item in items if item.column == 1]
    assert units == [
        ("Net income", "USD", 2.2e8),
        ("Basic", "USD/share", 2.25),
        ("Diluted", "USD/share", 2.2),
        ("Basic", "shares", 9.8e7),
        ("Diluted", "shares", 1e8),
        ("Dividends declared per share", "USD/share", 0.5),
    ]
    assert items[2].section == "Earnings per share:"


def test_share_counts_exempt_from_the_scale() -> None:
    rows = "~ | 2022\nNet income | 220,000\nWeighted-average shares, diluted | 100,250,000"
    items = _read(rows, head="(in thousands, except share and per share data)")
    assert [item.value for item in items] == [2.2e8, 100_250_000]


def test_three_and_six_months() -> None:
    items = _read(
        """~ | Three Months Ended June 30, | Three Months Ended June 30, | Six Months Ended June 30,
~ | 2022 | 2021 | 2022
Net sales | 300 | 280 | 600""",
        filing=QUARTER,
    )
    assert [(item.period_end, item.months) for item in items] == [
        (dt.date(2022, 6, 30), 3),
        (dt.date(2021, 6, 30), 3),
        (dt.date(2022, 6, 30), 6),
    ]


def test_balance_sheet_dates_are_instants() -> None:
    items = _read("~ | June 30, 2022 | December 31, 2021\nTotal assets | 900 | 850", "balance", filing=QUARTER)
    assert [(item.period_end, item.months) for item in items] == [(dt.date(2022, 6, 30), 0), (dt.date(2021, 12, 31), 0)]


def test_dates_in_the_title_date_bare_years() -> None:
    head = "Fiscal years ended December 28, 2019, December 29, 2018\n(in millions)"
    items = _read("~ | 2019 | 2018\nNet sales | 300 | 280", head=head)
    assert [item.period_end for item in items] == [dt.date(2019, 12, 28), dt.date(2018, 12, 29)]


def test_bare_years_are_fiscal_years() -> None:
    filing = replace(ANNUAL, period_end=dt.date(2023, 1, 28))
    items = _read("~ | Fiscal 2022 | Fiscal 2021\nNet sales | 300 | 280", filing=filing)
    assert [item.period_end for item in items] == [dt.date(2023, 1, 28), dt.date(2022, 1, 28)]


def test_opening_cash_belongs_to_the_day_before_the_period() -> None:
    items = _read(
        """~ | 2022 | 2021
Cash at beginning of year | 90 | 80
Cash at end of year | 100 | 90""",
        "cash_flow",
    )
    assert [(item.period_end, item.months) for item in items] == [
        (dt.date(2021, 12, 31), 0),
        (dt.date(2020, 12, 31), 0),
        (dt.date(2022, 12, 31), 0),
        (dt.date(2021, 12, 31), 0),
    ]


def test_equity_rows_are_dated_by_the_balances_around_them() -> None:
    items = _read(
        """~ | Shares | Amount | Retained Earnings
Balance at January 1, 2021 | 98 | 5 | 300
Net income | ~ | ~ | 192
Balance at December 31, 2021 | 98 | 5 | 492""",
        "equity",
    )
    first, income = items[0], _one(items, "Net income", 3)
    assert (first.unit, first.value, first.period_end, first.months) == ("shares", 9.8e7, dt.date(2020, 12, 31), 0)
    assert (income.period_end, income.months, income.unit) == (dt.date(2021, 12, 31), 12, "USD")


def test_percent_keeps_the_printed_number() -> None:
    (item,) = _read("~ | 2022\nEffective tax rate | 21.4%")
    assert (item.value, item.unit) == (21.4, "percent")


def test_sections_end_where_the_margin_returns() -> None:
    rows = [
        (Cell("2022", 1),),
        (Cell("Current assets:", 0, indent=10),),
        (Cell("Cash", 0, indent=20), Cell("5", 1)),
        (Cell("Total current assets", 0, indent=20), Cell("5", 1)),
        (Cell("Goodwill", 0, indent=10), Cell("7", 1)),
    ]
    items = extract_line_items([Grid(0, tuple(rows))], "(in millions)", "balance", ANNUAL)
    assert [item.section for item in items] == ["Current assets:", "Current assets:", None]


def test_scale_of_the_page_before_holds_on_a_continuation() -> None:
    grid = Grid(0, ((Cell("2022", 1),), (Cell("Long-term debt", 0), Cell("200", 1))))
    (item,) = extract_line_items([grid], "Balance sheets (continued)", "balance", ANNUAL, before="(in thousands)")
    assert item.value == 200_000


def test_other_currencies() -> None:
    (item,) = _read("~ | 2022\nRevenue | € 300", head="(in millions of euros)")
    assert (item.unit, item.value) == ("EUR", 3e8)


_text = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "2022",
            "$1,234",
            "(5)",
            "—",
            "Net income",
            "Balance at December 31, 2021",
            "Three Months Ended",
            "February 30, 2022",
            "13/45/2022",
            "per share",
            "Total",
            "0000",
            "99 weeks ended",
        ]
    ),
)
_row = st.lists(st.builds(Cell, _text, st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=5).map(tuple)
_rows = st.lists(_row, max_size=10).map(tuple)


@given(
    st.lists(st.builds(Grid, st.just(0), _rows), max_size=3),
    st.text(max_size=200),
    st.sampled_from(["income", "balance", "cash_flow", "equity", None]),
)
def test_any_grid_never_fails(grids: list[Grid], text: str, statement: Statement | None) -> None:
    for item in extract_line_items(grids, text, statement, ANNUAL):
        assert item.label


def test_a_sentence_whose_figure_is_set_apart_is_not_a_row() -> None:
    sentence = "During fiscal 2022, revenue of our cloud business grew by a fifth, to billion, from $1.36 billion"
    items = _read(f"Net sales | 1,200\n{sentence} | $1.63", None)
    assert [item.label for item in items] == ["Net sales"]
    assert len(_read("Share of net sales that comes from customers in the other regions of the world | 5", None)) == 1

"""Line items of tables outside the primary statements: dated by column, by a heading over rows, or by the row."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from finray.core.filing import LineItem
from finray.filings.tables.line_items import extract_line_items
from finray.filings.tables.period_headings import column_label, is_period
from finray.filings.tables.scales import Scale
from tests.filings.tables.printed import ANNUAL, grid_of


def _read(rows: str, caption: str = "", page: str = "", usual: Scale | None = None) -> list[LineItem]:
    return extract_line_items([grid_of(rows, caption)], page, None, ANNUAL, usual=usual)


def test_the_caption_gives_the_scale_and_the_day() -> None:
    caption = "Debt as of December 31, 2022 consisted of the following (in millions):"
    (item,) = _read("~ | Fair value\nSenior notes | $1,200", caption)
    assert (item.value, item.period_end, item.statement) == (1.2e9, dt.date(2022, 12, 31), None)
    assert (item.column_label, item.caption) == ("Fair value", caption)


def test_columns_are_segments_under_headings_that_name_the_year() -> None:
    items = _read(
        "~ | North | South\nYear ended December 31, 2022 | ~ | ~\nNet sales | $1,200 | $1,100\n"
        "Year ended December 31, 2021 | ~ | ~\nNet sales | $1,000 | $900",
        "(in millions)",
    )
    found = {(item.column_label, item.period_end and item.period_end.year): item.value for item in items}
    assert found == {("North", 2022): 1.2e9, ("South", 2022): 1.1e9, ("North", 2021): 1.0e9, ("South", 2021): 0.9e9}
    assert {item.months for item in items} == {12}


def test_a_row_may_be_the_year() -> None:
    items = _read(
        "~ | North | South\nFiscal 2022 | $1,200 | $1,100\nFiscal 2021 | 1,000 | 900",
        "Net sales by region (in millions)",
    )
    assert [(item.period_end and item.period_end.year, item.value) for item in items if item.column == 2] == [
        (2022, 1.1e9),
        (2021, 0.9e9),
    ]


def test_balances_of_a_roll_forward_are_dated_by_their_rows() -> None:
    items = _read(
        "~ | North | South\nBalance as of December 31, 2021 | $500 | $400\nAcquisitions | 20 | 30\n"
        "Balance as of December 31, 2022 | $520 | $430",
        "Goodwill (in millions)",
    )
    north = [item for item in items if item.column == 1]
    assert [(item.period_end, item.months) for item in north] == [
        (dt.date(2021, 12, 31), 0),
        (dt.date(2022, 12, 31), 12),
        (dt.date(2022, 12, 31), 0),
    ]


def test_figures_without_a_date_are_kept_without_one() -> None:
    items = _read("~ | Minimum | Maximum\nBuildings | 10 | 40")
    assert [(item.label, item.value, item.period_end) for item in items] == [
        ("Buildings", 10, None),
        ("Buildings", 40, None),
    ]


def test_several_years_in_a_heading_are_not_a_period() -> None:
    items = _read(
        "~ | 2023(a) | 2024-2025 | Thereafter\nPurchase obligations | $16 | $6 | $4",
        "Payments due as of December 31, 2022 (in millions)",
    )
    assert [(item.period_end and item.period_end.year, item.column_label) for item in items][:2] == [
        (2023, None),
        (None, "2024-2025"),
    ]


def test_a_heading_that_compares_years_heads_its_columns() -> None:
    items = _read("~ | 2022 | 2021 | 2022 vs. 2021\nNet sales | $12 | $11 | $1", "(in millions)")
    assert [(item.period_end and item.period_end.year, item.column_label) for item in items] == [
        (2022, None),
        (2021, None),
        (None, "2022 vs. 2021"),
    ]


def test_a_note_without_a_scale_has_that_of_the_statements() -> None:
    (item,) = _read("~ | 2022\nRestructuring charges | 45", usual=Scale(10**6))
    assert item.value == 45e6


@pytest.mark.parametrize(
    ("heading", "label"),
    [
        ("Three Months Ended June 30, 2022", None),
        ("2022", None),
        ("2022 Level 1", "2022 Level 1"),
        ("", None),
        ("Americas", "Americas"),
        ("2027 - 2031", "2027 - 2031"),
    ],
)
def test_a_column_label_names_more_than_a_period(heading: str, label: str | None) -> None:
    assert column_label(heading) == label


@pytest.mark.parametrize("label", ["2022", "Fiscal year ended June 30, 2022:", "As of December 31, 2022"])
def test_a_label_is_a_period_if_it_names_nothing_else(label: str) -> None:
    assert is_period(label)
    assert not is_period(f"{label} notes")


def test_a_percent_sign_over_a_column_of_amounts_is_the_neighbors() -> None:
    items = _read(
        "~ | Year ended % of December 31, 2022 | total\nConsole | $2,389 | 54%\nMobile | 407 | 9\nTotal | 2,796 | 63",
        "Net revenues (in millions)",
    )
    found = {item.label: (item.value, item.unit) for item in items if item.column == 1}
    assert found == {"Console": (2.389e9, "USD"), "Mobile": (4.07e8, "USD"), "Total": (2.796e9, "USD")}


def test_prose_over_a_table_does_not_name_the_unit_of_its_columns() -> None:
    prose = "Noninterest expense was up 12%, driven by higher structural expense and by investments in the business, "
    items = _read(f"~ | {prose} 2022\nNonaccrual loans | 546\nDeposits | 12", "(in millions)")
    assert {item.unit for item in items} == {"USD"}


def test_a_heading_over_rows_may_name_percent() -> None:
    items = _read(
        "~ | 2022\nOperating expenses: | ~\nMarketing | $43,907\nPercent of net sales: | ~\nMarketing | 6.9",
        "(in millions)",
    )
    assert [(item.value, item.unit) for item in items] == [(43.907e9, "USD"), (6.9, "percent")]


@pytest.mark.parametrize("row", ["Outstanding at {}", "Exercisable, as of {}", "Nonvested shares at {}"])
def test_options_are_dated_by_what_is_outstanding(row: str) -> None:
    items = _read(
        f"~ | Number of options | Exercise price\n{row.format('December 31, 2021')} | 4,200 | $41.50\n"
        f"Granted | 300 | 44.00\n{row.format('December 31, 2022')} | 4,500 | $42.10",
        "Option activity was:",
    )
    counts = [item for item in items if item.column == 1]
    assert [(item.period_end, item.months) for item in counts] == [
        (dt.date(2021, 12, 31), 0),
        (dt.date(2022, 12, 31), 12),
        (dt.date(2022, 12, 31), 0),
    ]


def test_the_sentence_above_dates_a_table_that_has_no_date() -> None:
    text = "The fair value of our assets at June 2, 2022 was measured with these inputs:\n(in millions)\nInputs used\n"
    rows = "~ | Total | Level 1\nMoney market funds | $4,794 | $4,700\nTime deposits | 31 | 24"
    items = _read(rows, "Inputs used", f"{text}Money market funds\n$4,794\n$4,700\nTime deposits\n31\n24")
    assert {item.period_end for item in items} == {dt.date(2022, 6, 2)}
    between = "Debt\n1,200\nat June 2, 2022\n3,400\nMoney market funds\n$4,794\nTime deposits\n31"
    assert {item.period_end for item in _read(rows, "Inputs used", between)} == {None}


def test_ends_of_quarters_without_a_year_head_quarters() -> None:
    items = _read(
        "~ | March 31 | June 30 | September 30 | December 31 | Total\nFiscal Year 2022 | ~ | ~ | ~ | ~ | ~\n"
        "Revenue | $230 | $264 | $217 | $221 | $932",
        "(In millions)",
    )
    assert [(item.period_end and item.period_end.month, item.months) for item in items] == [
        (3, 3),
        (6, 3),
        (9, 3),
        (12, 3),
        (12, 12),
    ]


def test_obligations_of_years_to_come_are_of_those_years() -> None:
    page = "At December 31, 2022, maturities of debt were (in millions):\nFiscal 2023\n$150\nFiscal 2024\n95\n"
    items = _read("Fiscal 2023 | $150\nFiscal 2024 | 95\nThereafter | 870\nTotal | $1,115", page=page)
    ends = [item.period_end for item in items]
    assert ends[:2] == [dt.date(2023, 12, 31), dt.date(2024, 12, 31)]
    past = _read("Fiscal 2022 | $150\nFiscal 2021 | 95", "Rent expense (in millions)")
    assert [item.period_end for item in past] == [dt.date(2022, 12, 31), dt.date(2021, 12, 31)]


def test_the_last_sentence_above_a_table_dates_it() -> None:
    page = (
        "At December 31, 2021, notes were for sale.\nAt December 31, 2022, loans were (in millions):\nHome loans\n$150"
    )
    (item,) = _read("Home loans | $150", page=page)
    assert item.period_end == dt.date(2022, 12, 31)


def test_the_sentence_before_a_page_break_dates_the_table_behind_it() -> None:
    grid = grid_of("~ | Amortized Cost\nTreasury bills | $150")
    before = "Long text.\nCash equivalents consisted of the following as of December 31, 2022:\n57\n"
    (item,) = extract_line_items([grid], "Amortized Cost\nTreasury bills\n$150", None, ANNUAL, before=before)
    assert item.period_end == dt.date(2022, 12, 31)


@pytest.mark.parametrize("heading", ["Remaining Term (in years)", "Less than 12 Months", "12 Months or Greater"])
def test_a_length_of_time_over_a_column_is_no_period(heading: str) -> None:
    (item,) = _read(f"~ | {heading}\nOutstanding as of December 31, 2022 | 5.2")
    assert (item.period_end, item.months) == (dt.date(2022, 12, 31), 0)


def test_columns_between_two_days_have_the_time_between_them() -> None:
    items = _read("~ | December 31, 2021 | Acquisitions | Other | December 31, 2022\nRetail | $9 | $2 | $(1) | $10")
    end = dt.date(2022, 12, 31)
    assert [(item.period_end, item.months) for item in items[1:3]] == [(end, 12), (end, 12)]
    assert items[0].period_end == dt.date(2021, 12, 31)


def test_heads_of_opening_and_closing_balances_date_their_columns() -> None:
    items = _read(
        "~ | Balance at beginning of period | Additions | Balance at end of period\n"
        "Year ended December 31, 2022 | ~ | ~ | ~\nAllowance | $4 | $3 | $7"
    )
    end = dt.date(2022, 12, 31)
    assert [(item.period_end, item.months) for item in items] == [(dt.date(2021, 12, 31), 0), (end, 12), (end, 0)]


def test_the_sentence_above_names_the_year_of_its_events() -> None:
    items = _read("~ | Shares\nAwarded | 3.2\nReleased | (3.5)", "Activity for fiscal 2022 was as follows:")
    assert {item.period_end for item in items} == {dt.date(2022, 12, 31)}


def test_a_balance_may_stand_behind_a_dash() -> None:
    items = _read(
        "~ | North | South\nGoodwill - January 1, 2022 | $9 | $8\nAcquired | 1 | —\n"
        "Goodwill - December 31, 2022 | $10 | $8"
    )
    assert [(item.period_end, item.months) for item in items[::2]] == [
        (dt.date(2021, 12, 31), 0),
        (dt.date(2022, 12, 31), 12),
        (dt.date(2022, 12, 31), 0),
    ]


def test_a_dash_has_the_unit_of_its_column_in_a_row_of_several_units() -> None:
    items = _read(
        "~ | Rate | 2022 | 2021\n2027 notes | 2.3% | $85 | $85\n2029 notes | 4.9% | 7 | —\n2031 notes | 5.1% | $— | $9",
        "(in millions)",
    )
    assert [item.unit for item in items if item.column > 1] == ["USD"] * 6


def test_percentages_that_are_excepted_do_not_head_a_column() -> None:
    items = _read("~ | 2022 (in millions, except percentages)\nState taxes | 40\nFederal taxes | —")
    assert {item.unit for item in items} == {"USD"}


def test_the_current_year_of_a_quarterly_report_is_not_to_come() -> None:
    quarter = replace(ANNUAL, form="10-Q", period_end=dt.date(2022, 6, 30), fiscal_period="Q2")
    grid = grid_of(
        "~ | Volume\nSix months ended June 30 | ~\nFiscal 2022 | $1,200\nFiscal 2021 | 1,100", "(in millions)"
    )
    ends = [item.period_end for item in extract_line_items([grid], "", None, quarter)]
    assert ends == [dt.date(2022, 6, 30), dt.date(2021, 6, 30)]

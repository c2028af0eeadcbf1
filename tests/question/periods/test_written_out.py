"""Shorthand and joined periods in full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.question.periods.named import last_years_in
from finray.question.periods.relative_periods import with_counted
from finray.question.periods.written_out import written_out

DEVELOP = Path(__file__).parents[3] / "benchmarks" / "period_wordings" / "develop.jsonl"


def _read(question: str) -> list[str]:
    return [str(period) for period in with_counted(written_out(question))]


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("4QFY23 sales", ["Q4 2023"]),
        ("sales of FQ2 2023", ["Q2 2023"]),
        ("second-quarter 2023 sales", ["Q2 2023"]),
        ("2022's third quarter", ["Q3 2022"]),
        ("9M21 net sales", ["9 months to Q3 2021"]),
        ("YTD Q3 2022 costs", ["9 months to Q3 2022"]),
        ("back half of fiscal 2021", ["6 months to Q4 2021"]),
        ("24 wks to 17 June 2023", ["6 months to 2023-06-17"]),
        ("QE Jun-22 income", ["3 months to 2022-06-30"]),
        ("the September quarter of 2022", ["3 months to 2022-09-30"]),
        ("nine months to September 2022", ["9 months to 2022-09-30"]),
        ("sales for the period from May 1, 2024 through December 31, 2024", ["8 months to 2024-12-31"]),
        ("sales from October 2, 2023 through December 31, 2023", ["3 months to 2023-12-31"]),
        ("debt from December 31, 2022 to June 30, 2023", ["2022-12-31", "2023-06-30"]),
        ("the nine month transition period ended December 31, 2022", ["9 months to 2022-12-31"]),
        ("TTM to June 30, 2023", ["12 months to 2023-06-30"]),
        ("total assets at 12/31/2022", ["2022-12-31"]),
        ("net debt 31.12.22", ["2022-12-31"]),
        ("cash 20221231", ["2022-12-31"]),
        ("borrowings Dec '22", ["2022-12-31"]),
        ("FY2022/23 turnover", ["FY 2023"]),
        ("YE21 debt", ["FY 2021"]),
    ],
)
def test_shorthand_is_read(text: str, periods: list[str]) -> None:
    assert _read(text) == periods


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("Q1 and Q2 of 2021", ["Q1 2021", "Q2 2021"]),
        ("third and fourth quarters of 2019", ["Q3 2019", "Q4 2019"]),
        ("Q1-Q3 2022 by quarter", ["Q1 2022", "Q2 2022", "Q3 2022"]),
        ("three and nine months ended September 30, 2022", ["3 months to 2022-09-30", "9 months to 2022-09-30"]),
        ("from July 1, 2021 to September 30, 2021", ["3 months to 2021-09-30"]),
        ("Jan-Sep 2021", ["9 months to 2021-09-30"]),
        ("2019-21 sales", ["FY 2019", "FY 2020", "FY 2021"]),
        ("Q4-Q1 2022 sales", ["Q4 2022", "Q1 2022"]),
        ("fourth through first quarters of 2022", ["Q4 2022", "Q1 2022"]),
    ],
)
def test_joined_periods_are_separate(text: str, periods: list[str]) -> None:
    assert _read(text) == periods


def test_two_balance_dates_are_no_period() -> None:
    assert _read("from December 31, 2021 to June 30, 2022") == ["2021-12-31", "2022-06-30"]


@pytest.mark.parametrize(
    "text", ["the 2025 notes", "notes due 2029", "the 2018 Incentive Plan", "Section 2019", "3% 2027 senior notes"]
)  # fmt: skip
def test_years_in_names_are_no_periods(text: str) -> None:
    assert _read(f"What is the balance of {text}?") == []


@pytest.mark.parametrize(
    "text", ["3M 2021 revenue", "TTM Technologies", "HY bonds", "$12,312,022 of sales", "10.5% notes", "CY 2019 sales"]
)  # fmt: skip
def test_what_only_looks_like_shorthand_stays(text: str) -> None:
    assert written_out(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "the th\u0131rd quarter of 2022", "first s\u0131x months of 2020", "end of \u017feptember 2023",
        "13 wk\u017f to 1 May 2021", "from July 1, 2021 to \u017feptember 30, 2021", "YTD \u017fep-22",
        "th\u0131rd and fourth quarters of 2019", "last year's f\u0131nal quarter", "Jul-\u017fep 2022",
        "\u0130V quarter 2019", "fiscal twenty \u017fix", "s\u0131x years before 2020",
    ],
)  # fmt: skip
def test_letters_that_only_look_like_ascii_are_other_letters(text: str) -> None:
    _read(text)
    last_years_in(f"the last {text}")


@given(st.text(max_size=200))
def test_any_text_can_be_written_out(text: str) -> None:
    assert isinstance(written_out(text), str)


@given(st.text(alphabet="0123456789/-.' QHFYMTDCJanSeptorch", max_size=60))
def test_dates_that_are_none_stay(text: str) -> None:
    with_counted(written_out(text))


def test_most_wordings_are_read() -> None:
    asked = [json.loads(line) for line in DEVELOP.read_text("utf-8").splitlines()]
    right = [set(_read(each["question"])) == set(each["periods"]) for each in asked]
    assert sum(right) / len(right) > 0.95

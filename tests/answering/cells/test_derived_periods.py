"""Amounts of a part of the year that is not printed, as the difference of two that are."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from finray.answering.cells.derived_periods import derived, with_derived
from finray.core.filing import Filing, FiscalPeriod, LineItem
from finray.core.period import Period
from finray.core.plan import Coverage, Found, Operand, Plan
from finray.core.predictions import Prediction
from finray.question.measures.phrase import phrase_of
from finray.question.plans.programs import period_label

END = dt.date(2022, 12, 31)
PRINTED = {("FY", 12): 1000.0, ("Q3", 9): 700.0, ("Q2", 6): 450.0, ("Q2", 3): 250.0, ("Q1", 3): 200.0, ("Q4", 3): 310.0}


def _operand(part: FiscalPeriod, months: int | None = None, item: str = "revenue") -> Operand:
    period = Period(2022, part, months=months)
    return Operand(f"{item}_{period_label(period)}", "acme", item, period, item)


def _printing(
    year: int = 2022, *, without: tuple[str, int] | None = None, **changes: object
) -> Callable[[Operand, int], Found | None]:
    def search(operand: Operand, in_year: int) -> Found | None:
        period = operand.period
        span = (period.part or "FY", period.length or 12)
        if in_year != year or span == without or span not in PRINTED:
            return None
        filing = Filing("a", "A", "a.htm", "0" * 64, "Acme", "10-K", fiscal_year=year, fiscal_period="FY")
        months: Any = changes.get("months", span[1])
        unit: Any = changes.get("unit", "USD")
        label = "Net sales" if span[0] != "FY" else str(changes.get("label", "Net sales"))
        cell = LineItem(1, "income", label, PRINTED[span], "1", "USD", 1, END, months, row=1, column=1)
        return Found(operand, filing, cell, cell.value, unit, "USD")

    return search


@pytest.mark.parametrize(
    ("part", "months", "value"),
    [("Q4", None, 300.0), ("Q4", 6, 550.0), ("Q3", None, 250.0), ("Q2", None, 250.0), ("Q1", None, 200.0)],
)
def test_a_part_of_the_year_is_the_difference_of_two_spans(
    part: FiscalPeriod, months: int | None, value: float
) -> None:
    pair = derived(_operand(part, months), _printing())
    assert pair is not None
    assert pair[0].value - pair[1].value == value


def test_both_spans_are_of_one_year_s_filings() -> None:
    assert derived(_operand("Q4"), _printing(2023)) is not None
    this, following = _printing(2022, without=("Q3", 9)), _printing(2023, without=("FY", 12))
    assert derived(_operand("Q4"), lambda operand, year: this(operand, year) or following(operand, year)) is None


@pytest.mark.parametrize(
    "search",
    [
        _printing(without=("Q3", 9)),
        _printing(label="Total revenues"),
        _printing(months=None),
        _printing(unit="USD/share"),
    ],
)
def test_nothing_is_derived_from_other_rows_lengths_or_units(search: Callable[[Operand, int], Found | None]) -> None:
    assert derived(_operand("Q4"), search) is None


def test_balances_rates_and_whole_years_are_not_derived() -> None:
    rate = phrase_of("effective tax rate")
    assert rate is not None
    for operand in (
        _operand("Q4", item="total_assets"),
        _operand("FY"),
        Operand("r", "acme", rate.name, Period(2022, "Q4"), rate.text, rate),
    ):
        assert derived(operand, _printing()) is None


def test_the_program_of_a_plan_holds_the_difference() -> None:
    absent = _operand("Q4")
    plan = Plan(
        "growth", "revenue_q4_2022 / prior - 1", "percent", "revenue", (absent,), (("Q4 2022", "revenue_q4_2022"),)
    )
    covered = with_derived(Coverage(plan, {}, (absent,)), _printing())
    assert not covered.absent
    assert covered.plan.program == "(revenue_fy2022 - revenue_9m_q3_2022) / prior - 1"
    assert covered.plan.parts == (("Q4 2022", "revenue_fy2022 - revenue_9m_q3_2022"),)
    assert covered.plan.derived == ("Q4 2022: the year less nine months",)
    assert {each.name for each in covered.plan.operands} == set(covered.found)


def test_the_same_quarter_of_two_companies_keeps_its_names_apart() -> None:
    ours, theirs = (replace(_operand("Q4"), name=f"revenue_q4_2022_{each}", company=each) for each in ("acme", "zed"))
    plan = Plan("difference", f"{ours.name} - {theirs.name}", "USD", "revenue", (ours, theirs))
    covered = with_derived(Coverage(plan, {}, (ours, theirs)), _printing())
    assert len(covered.found) == 4
    assert {found.operand.company for found in covered.found.values()} == {"acme", "zed"}
    assert covered.plan.program == (
        "(revenue_fy2022_acme - revenue_9m_q3_2022_acme) - (revenue_fy2022_zed - revenue_9m_q3_2022_zed)"
    )


@pytest.mark.parametrize("metric", ["revenue", "operating cash flow", "net income"])
def test_the_sample_s_second_half_is_its_year_less_six_months(ask: Callable[[str], Prediction], metric: str) -> None:
    whole, first, second = (
        ask(f"What was Caldavale Outfitters' {metric} in {part}fiscal 2023?").value
        for part in ("", "the first half of ", "the second half of ")
    )
    assert whole is not None
    assert first is not None
    assert second == pytest.approx(whole - first)


def test_the_answer_says_what_it_is_computed_from(ask: Callable[[str], Prediction]) -> None:
    prediction = ask("What was Caldavale Outfitters' revenue in the first quarter of fiscal 2023?")
    assert "Q1 2023: six months less Q2" in prediction.answer
    assert [cell.months for cell in prediction.operands] == [6, 3]


def test_the_figure_of_a_year_is_not_that_of_a_quarter(ask: Callable[[str], Prediction]) -> None:
    for part in ("fourth quarter of fiscal 2022", "third quarter of fiscal 2022", "second half of fiscal 2021"):
        prediction = ask(f"What was Caldavale Outfitters' revenue in the {part}?")
        assert (prediction.status, prediction.value) == ("unanswerable", None)

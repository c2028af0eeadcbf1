"""Judgements answered from the statements of the sample's companies."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Collection, Sequence
from typing import cast

import pytest

from finray.answering.plans.judged import JudgedCompany
from finray.core.filing import Filing, LineItem, Statement
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.predictions import Answer, Prediction
from finray.core.query import Query
from finray.index.reading.facts import FilingFacts
from finray.question.measures.formulas import formula_of

Ask = Callable[[str], Prediction]


def test_liquidity_is_judged_by_its_ratios_with_every_figure_shown(ask: Ask) -> None:
    prediction = ask("Was Grevandor Systems' liquidity healthy at the end of fiscal 2022?")
    parts = [
        ask(f"What were Grevandor Systems' {name} in fiscal 2022?").value
        for name in ("total current assets", "total current liabilities")
    ]
    assert None not in parts
    ratio = (parts[0] or 0) / (parts[1] or 1)
    assert prediction.value == pytest.approx(ratio)
    assert prediction.unit == "ratio"
    assert f"current ratio {ratio:.2f}" in prediction.answer
    assert "finray calls a current ratio" in prediction.answer
    assert {cell.value for cell in prediction.operands} >= set(parts)
    assert prediction.grounded is True
    assert prediction.evidence


@pytest.mark.parametrize(
    "question",
    [
        "Is Caldavale Outfitters a capital-intensive company, going by fiscal 2023?",
        "Is Caldavale Outfitters capital-light, going by fiscal 2023?",
    ],
)
def test_the_verdict_follows_the_criterion_and_the_claim(ask: Ask, question: str) -> None:
    prediction = ask(question)
    share = ask("What was Caldavale Outfitters' capital intensity in fiscal 2023?").value
    assert share is not None
    assert prediction.value == pytest.approx(share)
    intensive = "not" if share < 6 else "moderately" if share < 10 else ""
    assert f"{intensive} capital-intensive".strip() in prediction.answer.lower()
    if intensive != "moderately":
        assert prediction.answer.startswith("Yes" if ("light" in question) == (intensive == "not") else "No")


def test_cover_counts_every_use_and_gives_the_shortfall_if_asked(ask: Ask) -> None:
    prediction = ask(
        "Did Grevandor Systems' operating cash flow cover its capital expenditures and dividends in fiscal 2022? "
        "Give the surplus or shortfall."
    )
    names = ("cash flow from operations", "capital expenditures", "dividends paid")
    source, *uses = (ask(f"What were Grevandor Systems' {name} in fiscal 2022?").value or 0 for name in names)
    assert prediction.value == pytest.approx(source - sum(uses))
    assert prediction.answer.startswith("Yes" if source >= sum(uses) else "No")


def test_two_directions_are_answered_by_the_one_that_holds(ask: Ask) -> None:
    prediction = ask("Did Caldavale Outfitters' gross margin get better or worse in fiscal 2023?")
    before, after = (
        ask(f"What was Caldavale Outfitters' gross margin in fiscal {year}?").value or 0 for year in (2022, 2023)
    )
    assert prediction.answer.startswith("Better" if after > before else "Worse")
    assert prediction.value == pytest.approx(after - before)
    assert re.search(rf"from {before:.1f}% \(FY 2022\) to {after:.1f}% \(FY 2023\)", prediction.answer)


def test_a_part_of_the_company_is_not_judged_by_the_whole(ask: Ask) -> None:
    prediction = ask("Is Grevandor Systems' repair business profitable in fiscal 2022?")
    assert "finray calls" not in prediction.answer


END = dt.date(2023, 12, 31)
BANK = Filing(
    "b", "bank", "bank.htm", "0" * 64, "Torvane Bank", "10-K", period_end=END, fiscal_year=2023, fiscal_period="FY"
)


def _item(statement: Statement, row: int, label: str, value: float) -> LineItem:
    months = 0 if statement == "balance" else 12
    return LineItem(0, statement, label, value, f"{value:,.0f}", "USD", 1, END, months, row=row, column=1)


BANK_ITEMS = (
    _item("income", 1, "Net interest income", 900),
    _item("income", 2, "Total net revenue", 1_400),
    _item("income", 3, "Provision for credit losses", 120),
    _item("income", 4, "Income before income taxes", 300),
    _item("income", 5, "Net income", 240),
    _item("balance", 6, "Total assets", 20_000),
)


class _Facts:
    """The facts of one filing."""

    def __init__(self, items: Sequence[LineItem]) -> None:
        self._items = items

    def filing(self, filing_id: str) -> Filing:
        return BANK

    def company_of(self, filing_id: str) -> str:
        return "torvane"

    def company_name(self, company: str) -> str:
        return "Torvane Bank"

    def passages_of(self, filing_id: str, page: int) -> list[Passage]:
        text = "\n".join(f"{item.label} | {item.text}" for item in self._items)
        return [Passage("bank", "b", 0, 0, len(text), text, 0.0)]

    def line_items(self, filing_ids: Collection[str]) -> dict[str, Sequence[LineItem]]:
        return dict.fromkeys(filing_ids, self._items)


def _meaningless(metric: str, *more: LineItem) -> Answer | None:
    facts = cast(FilingFacts, _Facts((*BANK_ITEMS, *more)))
    query = Query("Is it improving?", "Is it improving?")
    figures = JudgedCompany(query, "torvane", [Period(2023, "FY")], facts.passages_of("b", 0), facts)
    return figures.meaningless([formula_of(metric)])


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("gross_margin", "no cost of sales"),
        ("operating_margin", "no operating income"),
        ("current_ratio", "does not separate current assets"),
    ],
)
def test_a_ratio_that_means_nothing_for_a_bank_is_named_so(metric: str, why: str) -> None:
    answer = _meaningless(metric)
    assert answer is not None
    assert "no meaningful measure for Torvane Bank" in answer.text
    assert why in answer.text
    assert answer.value is None
    assert answer.operands
    assert answer.grounded is True


def test_a_row_that_was_only_not_found_proves_nothing() -> None:
    assert _meaningless("inventory_turnover", _item("balance", 7, "Inventories", 5)) is not None  # no cost of sales
    assert _meaningless("current_ratio", _item("balance", 7, "Total current assets", 5)) is None
    assert _meaningless("net_margin") is None

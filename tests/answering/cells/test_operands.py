"""Operands in the tables of filings: which filing and which column is read for a period."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import cast

from finray.answering.cells.operands import find_operand, find_phrase
from finray.core.filing import Filing, FiscalPeriod, LineItem
from finray.core.period import Period
from finray.core.plan import Operand
from finray.question.measures.phrase import phrase_of
from tests.answering.made_up_cells import item

END = dt.date(2021, 12, 31)
ANNUAL = Filing("a", "a", "a.htm", "0" * 64, "Torvane", "10-K", period_end=END, fiscal_year=2021, fiscal_period="FY")
QUARTERLY = replace(
    ANNUAL, filing_id="q", form="10-Q", period_end=dt.date(2022, 6, 30), fiscal_year=2022, fiscal_period="Q2"
)


def _due(year: int, value: float, row: int) -> LineItem:
    """A row of a schedule that is labeled by its year."""
    caption = "Future debt maturities are as follows:"
    return item(90, row, str(year), value, period_end=dt.date(year, 12, 31), months=None, caption=caption)


def test_a_row_labeled_by_a_later_year_answers_if_the_question_names_the_filing() -> None:
    phrase = phrase_of("debt maturities")
    assert phrase is not None
    operand = Operand("debt", "torvane", phrase.name, Period(2024, "FY"), "debt maturities", phrase)
    items = {"a": (_due(2023, 300, 1), _due(2024, 474, 2), _due(2025, 597, 3))}
    found = find_phrase(operand, phrase, [ANNUAL], items, {}, ahead=True)
    assert found is not None
    assert found.value == 474
    assert find_phrase(operand, phrase, [ANNUAL], items, {}) is None


def test_the_balance_of_a_year_end_is_also_in_the_next_quarterly_report() -> None:
    operand = Operand("assets", "torvane", "current_assets", Period(2021, "FY"), "current assets")
    cells = tuple(
        item(5, 1, "Total current assets", value, statement="balance", period_end=end, months=0, column=column)
        for column, (value, end) in enumerate([(1_989.0, QUARTERLY.period_end), (1_250.0, END)], start=1)
    )
    found = find_operand(operand, [QUARTERLY], {"q": cells})
    assert found is not None
    assert found.value == 1_250
    flow = Operand("revenue", "torvane", "revenue", Period(2021, "FY"), "revenue")
    assert find_operand(flow, [QUARTERLY], {"q": cells}) is None


def _amended(filing: Filing) -> Filing:
    """An amendment that sorts before the filing that it amends."""
    return replace(filing, filing_id=f"0{filing.filing_id}", form=f"{filing.form}/A", is_amendment=True)


def test_restated_figures_answer_only_if_an_amendment_is_asked_for() -> None:
    phrase = phrase_of("net sales")
    assert phrase is not None
    operand = Operand("sales", "torvane", phrase.name, Period(2021, "FY"), "net sales", phrase)
    row = item(90, 1, "Net sales", 100.0, period_end=END, months=12)
    items = {"a": (row,), "0a": (replace(row, value=90.0),)}
    filings = [ANNUAL, _amended(ANNUAL)]
    values = [find_phrase(operand, phrase, filings, items, {}, amended=amended) for amended in (False, True)]
    assert [found and found.value for found in values] == [100, 90]


def test_so_do_expected_figures_and_balances_in_the_next_quarterly_report() -> None:
    phrase = phrase_of("debt maturities")
    assert phrase is not None
    due = Operand("debt", "torvane", phrase.name, Period(2024, "FY"), "debt maturities", phrase)
    schedules = {"a": (_due(2024, 474, 2),), "0a": (_due(2024, 470, 2),)}
    filings = [ANNUAL, _amended(ANNUAL)]
    values = [find_phrase(due, phrase, filings, schedules, {}, amended=each, ahead=True) for each in (False, True)]
    assert [found and found.value for found in values] == [474, 470]

    assets = Operand("assets", "torvane", "current_assets", Period(2021, "FY"), "current assets")
    cell = item(5, 1, "Total current assets", 1_250.0, statement="balance", period_end=END, months=0)
    balances = {"q": (cell,), "0q": (replace(cell, value=1_200.0),)}
    quarterly = [QUARTERLY, _amended(QUARTERLY)]
    values = [find_operand(assets, quarterly, balances, amended=each) for each in (False, True)]
    assert [found and found.value for found in values] == [1_250, 1_200]


def test_an_annual_report_prints_the_quarters_of_its_year() -> None:
    phrase = phrase_of("net sales")
    assert phrase is not None
    ends = (dt.date(2021, 3, 31), dt.date(2021, 6, 30), dt.date(2021, 9, 30), END)
    items = {
        "a": tuple(
            item(99, 1, "Net sales", 100.0 + n, period_end=end, months=3, column=n, caption="Quarters")
            for n, end in enumerate(ends, start=1)
        )
    }
    for n, part in enumerate(("Q1", "Q2", "Q3", "Q4"), start=1):
        period = Period(2021, cast(FiscalPeriod, part))
        operand = Operand("sales", "torvane", phrase.name, period, "net sales", phrase)
        found = find_phrase(operand, phrase, [ANNUAL], items, {})
        assert found is not None
        assert found.value == 100 + n

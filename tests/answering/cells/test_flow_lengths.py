"""The figure of a year is not given for a part of it."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from finray.answering.cells.flow_lengths import (
    asks_flow,
    flow_lengths,
    length_of,
    may_be_of,
    names_part_of_year,
    states_part,
    states_year,
)
from finray.core.filing import FiscalPeriod
from finray.core.period import Period
from finray.core.plan import Formula, Measures, Phrase
from finray.core.query import Query
from tests.answering.made_up_cells import BEFORE, FILING, item

QUARTERLY = replace(FILING, form="10-Q", fiscal_period="Q2", period_end=dt.date(2022, 6, 30))
SALES = item(3, 1, "Net sales", 100.0, months=None)


def _asking(*periods: Period, expression: str = "revenue", phrases: dict[str, Phrase] | None = None) -> Query:
    measures = Measures((Formula("asked", ("it",), expression, "USD"),), phrases or {})
    return Query("How much?", "How much?", ("acme",), periods=periods, measures=(measures,))


@pytest.mark.parametrize(
    ("period", "length"),
    [
        (Period(2022, "Q4"), 3),
        (Period(2022, "Q2", months=6), 6),
        (Period(2022, date=dt.date(2022, 9, 30), months=9), 9),
        (Period(2022, date=dt.date(2022, 9, 30)), None),
        (Period(2022, "FY"), None),
        (Period(2022), None),
    ],
)
def test_a_question_says_how_long_the_flow_is(period: Period, length: int | None) -> None:
    assert flow_lengths(_asking(period)) == ({length} if length else frozenset())


def test_one_open_period_leaves_the_length_open() -> None:
    assert not flow_lengths(_asking(Period(2022, "Q4"), Period(2022)))


def test_balances_have_no_length() -> None:
    instant = Phrase("goodwill", ("goodwill",), (), "money", instant=True)
    for query in (
        _asking(Period(2022, "Q4"), expression="total_assets"),
        _asking(Period(2022, "Q4"), expression="goodwill_x", phrases={"goodwill_x": instant}),
    ):
        assert not flow_lengths(query)
        assert not asks_flow(query)


def test_a_flow_may_be_asked_for_by_a_formula_or_in_words() -> None:
    spelled = Phrase("revenue", ("revenu",), (("revenue", frozenset({"revenu"})),), "money")
    other = Phrase("deferred revenue", ("defer", "revenu"), (("revenue", frozenset({"revenu"})),), "money")
    assert asks_flow(_asking(Period(2022, "Q4"), expression="net_income / revenue"))
    assert asks_flow(_asking(Period(2022, "Q4"), expression="the_revenue", phrases={"the_revenue": spelled}))
    assert not asks_flow(_asking(Period(2022, "Q4"), expression="it", phrases={"it": other}))
    assert not asks_flow(replace(_asking(Period(2022, "Q4")), measures=(Measures(()),)))


def test_an_undated_or_year_end_column_of_an_annual_report_is_of_the_year() -> None:
    assert length_of(SALES, FILING) == 12
    assert length_of(replace(SALES, period_end=BEFORE), FILING) == 12
    assert length_of(replace(SALES, period_end=None), FILING) == 12
    assert length_of(replace(SALES, months=3), FILING) == 3


@pytest.mark.parametrize(
    ("caption", "part"),
    [("Fourth Quarter", True), ("Three months ended", True), ("13 weeks ended", True), ("52 weeks ended", False)],
)
def test_unless_its_table_speaks_of_a_part_of_the_year(caption: str, part: bool) -> None:
    assert names_part_of_year(caption) == part
    assert length_of(replace(SALES, caption=caption), FILING) == (None if part else 12)


def test_a_caption_about_a_year_and_its_quarter_is_of_the_year() -> None:
    restated = "Restated as of and for the year ended December 31, 2022, for revenue of the fourth quarter"
    assert length_of(replace(SALES, caption=restated), FILING) == 12
    assert length_of(replace(SALES, caption=restated, column_label="Fourth quarter"), FILING) is None


def test_columns_that_end_within_the_year_or_in_quarterly_reports_stay_open() -> None:
    assert length_of(replace(SALES, period_end=dt.date(2022, 6, 30)), FILING) is None
    assert length_of(SALES, QUARTERLY) is None


def test_balances_may_change_over_a_quarter_but_are_no_sales() -> None:
    balance = replace(SALES, months=0)
    assert may_be_of({3}, balance, FILING)
    assert not may_be_of({3}, balance, FILING, balances=False)
    assert not may_be_of({3}, SALES, FILING)


@pytest.mark.parametrize(
    ("text", "form", "year"),
    [
        ("Interest expense was $946 million in 2022.", "FY", True),
        ("Interest expense was $946 million for the year ended December 31, 2022.", "FY", True),
        ("In the fourth quarter of 2022 we paid $20 million.", "FY", False),
        ("We had 500 stores at December 31, 2022.", "FY", False),
        ("Interest expense was $946 million.", "Q2", False),
    ],
)
def test_sentences_of_annual_reports_are_about_years(text: str, form: FiscalPeriod, year: bool) -> None:
    filing = replace(FILING, fiscal_period=form)
    assert states_year(text, filing, {3}) == year
    assert not states_year(text, filing, set())


@pytest.mark.parametrize(
    ("text", "year", "part"),
    [
        ("Net income was $14.5 billion.", 2022, True),
        ("For the second quarter, net income was $14.5 billion.", 2021, True),
        ("Net income of the year ended December 31, 2021 was $37.7 billion.", 2021, False),
    ],
)
def test_a_quarterly_report_does_not_give_the_flow_of_its_year(text: str, year: int, part: bool) -> None:
    assert states_part(text, QUARTERLY, _asking(Period(year, "FY"))) == part
    assert not states_part(text, QUARTERLY, _asking(Period(year, "FY"), expression="total_assets"))
    assert not states_part(text, QUARTERLY, _asking(Period(year, "Q2")))
    assert not states_part(text, FILING, _asking(Period(year, "FY")))

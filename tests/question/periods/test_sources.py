"""Which periods name the filing, and which are asked for inside it."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.period import Period
from finray.question.intents import intents_of
from finray.question.periods.sources import asked_again, source_periods, without_source


def _source(question: str) -> tuple[Period, ...]:
    return source_periods(question, intents_of(question, question, (), 1, 2))


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("Per the 2019 10-K of Torvane, what rent falls due in 2023?", Period(2019, "FY")),
        ("In its annual report for fiscal 2019, what did Torvane project for 2022?", Period(2019, "FY")),
        ("What was 2017 revenue according to Torvane's FY2019 10-K?", Period(2019, "FY")),
        (
            "At December 31, 2021, how much debt matured in 2024 and 2025 together?",
            Period(2021, None, dt.date(2021, 12, 31)),
        ),
        ("At year-end 2021, what lease payments were due in 2024?", Period(2021)),
        ("What must be paid in 2024 as of the close of fiscal 2021?", Period(2021, "FY")),
        ("What does the June 2023 10-Q expect for fiscal 2025?", Period(2023, None, dt.date(2023, 6, 30))),
    ],
)
def test_an_explicit_filing_outweighs_other_years(question: str, source: Period) -> None:
    assert _source(question) == (source,)


@pytest.mark.parametrize(
    "question",
    [
        "What was revenue in the 2019 10-K?",
        "How did revenue change between 2019 and 2021?",
        "How much higher were total assets at the end of 2021 than at the end of 2019?",
        "Did net income grow from the end of 2019 to 2021?",
        "How much did the obligations due within a year grow from the end of fiscal 2019 to the end of fiscal 2020?",
        "What lease payments fall due in 2024?",
    ],
)
def test_no_source_where_all_periods_are_asked_for(question: str) -> None:
    assert _source(question) == ()


@pytest.mark.parametrize(
    ("question", "again"),
    [
        ("Torvane, fiscal year 2018 10-K: how did net sales change from 2017 to 2018?", (Period(2018, "FY"),)),
        ("Torvane, fiscal year 2018 10-K: how did net sales change from 2016 to 2017?", ()),
        ("Torvane's FY2019 10-K: revenue of FY2018 and FY2019?", (Period(2019, "FY"),)),
    ],
)
def test_a_period_named_beside_the_form_and_again_is_asked_for(question: str, again: tuple[Period, ...]) -> None:
    assert asked_again(question, _source(question)) == again


def test_only_what_is_asked_of_the_filing_stays() -> None:
    question = (
        "What lease payments did Torvane expect to make in 2024, going by the schedule at the end of fiscal 2021?"
    )
    intents = intents_of(question, question, (), 1, 2)
    text = without_source(question, source_periods(question, intents), intents)
    assert "lease payments" in text
    assert "2024" in text
    assert not {"schedule", "expect", "2021"} & set(text.replace(",", " ").split())


@given(st.text(max_size=200))
def test_any_text_can_be_searched(text: str) -> None:
    intents = frozenset({"ahead"})
    without_source(text, source_periods(text, intents), intents)

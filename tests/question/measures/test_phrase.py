"""The noun phrase of a question: no company, period or words of asking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.question.measures.phrase import phrase_of


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("What was Acme's current federal income tax expense for fiscal 2024?", "current federal income tax expense"),
        ("How much were Acme Inc's operating lease liabilities as of June 30, 2025?", "operating lease liabilities"),
        ("Please look up valuation allowance of Acme for the six months ended June 30, 2025.", "valuation allowance"),
        ("Acme accrued compensation at fiscal year-end 2024", "accrued compensation"),
        ("Can you tell me Acme's gross intangible assets at the end of Q2 FY2025?", "gross intangible assets"),
        ("How much revenue did Acme bring in in FY 2024?", "revenue"),
        ("How much inventory did Acme carry at the end of fiscal 2024?", "inventory"),
        ("What carried forward losses did Acme have at the end of fiscal 2024?", "carried forward losses"),
        ("How much did Acme spend on marketing in FY2024?", "marketing"),
        ("Please compute Acme's revenue for fiscal 2024.", "revenue"),
        ("Acme Compute revenue fiscal 2024", "Compute revenue"),
        (
            "What amount did Acme disclose as purchase obligations in the first nine months of fiscal 2025?",
            "purchase obligations",
        ),
    ],
)
def test_what_is_asked_for(question: str, phrase: str) -> None:
    found = phrase_of(question, ["Acme"])
    assert found is not None
    assert found.text == phrase


def test_words_of_change_are_no_part_of_it() -> None:
    question = "By what percentage did Acme's accrued liabilities change from fiscal 2023 to fiscal 2024?"
    found = phrase_of(question, ["Acme"], moving=True)
    assert found is not None
    assert found.text == "accrued liabilities"


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("number of shares repurchased", "shares"),
        ("value of shares repurchased", "money"),
        ("dividends declared per share", "per share"),
        ("weighted-average discount rate", "percent"),
        ("effect of exchange rates on cash", "money"),
        ("goodwill", "money"),
    ],
)
def test_the_measure_it_has(text: str, measure: str) -> None:
    found = phrase_of(text)
    assert found is not None
    assert found.measure == measure


def test_nothing_is_left_of_a_question_for_nothing() -> None:
    assert phrase_of("What was it in 2024?") is None


@given(st.text(max_size=300), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_yields_a_phrase_with_words_or_none(text: str, names: list[str]) -> None:
    found = phrase_of(text, names)
    assert found is None or (found.words and found.name)

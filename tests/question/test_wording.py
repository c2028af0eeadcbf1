import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.question.measures.mentions import mentions
from finray.question.wording import statements_named, unexplained_words, without_instructions


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "What is the FY2019 capex of Torvane? Answer in USD millions. Please base your judgments on the cash "
            "flow statement.",
            "What is the FY2019 capex of Torvane?",
        ),
        (
            "You are an investment banker and your only resource is: the balance sheet. Here's the question: what "
            "is the FY2015 current ratio for Torvane? Round your answer to two decimal places.",
            "what is the FY2015 current ratio for Torvane?",
        ),
        ("Based on the income statement, what is Torvane's revenue?", "what is Torvane's revenue?"),
        ("Answer in USD.", "Answer in USD."),
        ("Not the quarter alone: what was Torvane's capex?", "what was Torvane's capex?"),
        (
            "What was revenue in the six months to June 30, 2023, not the quarter?",
            "What was revenue in the six months to June 30, 2023 ?",
        ),
        ("What was Q4 2022 profit on its own, as opposed to the full year?", "What was Q4 2022 profit ?"),
        (
            "How much cash came in during just the three months (not the trailing year)?",
            "How much cash came in during the three months ?",
        ),
        (
            "What's the quick liquidity picture: current ratio of Torvane in 2022?",
            "current ratio of Torvane in 2022?",
        ),
        ("Torvane: total assets in 2023?", "Torvane: total assets in 2023?"),
        ("DIO of Torvane in 2022, based on year-end inventory?", "DIO of Torvane in 2022?"),
        ("Two-year CAGR of sales from 2020 to 2022?", "CAGR of sales from 2020 to 2022?"),
        ("Two-year CAGR of sales to 2022?", "Two-year CAGR of sales to 2022?"),
        ("Is the auditor independent, not only in fact?", "Is the auditor independent, not only in fact?"),
    ],
)
def test_instructions_go_and_the_question_stays(question: str, text: str) -> None:
    assert without_instructions(question) == text


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Compute the revenue of fiscal 2024", ()),
        ("Could you compute revenue for 2024?", ()),
        ("How much revenue did it bring in, and how much inventory did it carry?", ()),
        ("Compute revenue", ()),
        ("What was Compute revenue in 2024?", ("compute",)),
    ],
)
def test_words_that_narrow_a_question(question: str, left: tuple[str, ...]) -> None:
    assert unexplained_words(question, mentions(question)) == left


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("using the P&L statement and the balance sheet", ("income", "balance")),
        ("in the statement of cash flows", ("cash_flow",)),
        ("from the statement of financial position", ("balance",)),
        ("what is the balance of trade?", ()),
    ],
)
def test_statements_named_in_words(question: str, statements: tuple[str, ...]) -> None:
    assert set(statements_named(question)) == set(statements)


@given(st.text(max_size=400))
def test_any_question_leaves_something_to_ask(question: str) -> None:
    assert without_instructions(question) or not question.strip()

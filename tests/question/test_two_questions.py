"""Two questions in one are answered both, or the one that is not answered is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from finray.core.predictions import Prediction
from finray.question.two_questions import two_questions

Ask = Callable[[str], Prediction]


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("What was Acme's revenue in 2021 and what was its net income in 2022?", "What was its net income in 2022?"),
        ("How many people does Acme employ, and how many of them abroad?", "How many of them abroad?"),
        ("What was Acme's revenue and operating income in 2021?", ""),
        ("Acme said when and what was sold in 2021", ""),
        ("Who is the CEO and what was revenue and how much is debt?", ""),
    ],
)
def test_a_second_interrogative_begins_a_second_question(text: str, second: str) -> None:
    assert two_questions(text)[1] == second


def test_both_are_answered_with_their_cells(ask: Ask) -> None:
    prediction = ask("What was Grevandor Systems' revenue in fiscal 2022 and what was its revenue in fiscal 2023?")
    assert prediction.value == 1_408_729_000
    assert "$1,408.7 million" in prediction.answer
    assert "$1,410.8 million" in prediction.answer
    assert [cell.value for cell in prediction.operands] == [1_408_729_000, 1_410_756_000]


def test_what_is_not_answered_is_named(ask: Ask) -> None:
    prediction = ask(
        "What was Grevandor Systems' revenue in fiscal 2022, and what was its goodwill impairment in 2022?"
    )
    assert prediction.status == "answered"
    assert prediction.answer.endswith("Not answered: What was its goodwill impairment in 2022?")
    assert prediction.missing == ("What was its goodwill impairment in 2022?",)

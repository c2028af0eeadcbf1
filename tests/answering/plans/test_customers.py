"""Verdicts on the concentration of customers, from the sentences of a report."""

from __future__ import annotations

import pytest

from finray.answering.plans.customers import judged_customers
from finray.core.passages import Passage
from finray.core.query import Query
from finray.question.plans.judgement_criteria import Concentration
from finray.question.plans.judgements import concentration_of


def _passage(text: str) -> Passage:
    return Passage("torvane", "t", 7, 0, len(text), text, 1.0)


def _concentration() -> Concentration:
    question = "Does Torvane depend heavily on one customer?"
    concentration = concentration_of(Query(question, question))
    assert concentration is not None
    return concentration


@pytest.mark.parametrize(
    ("text", "start", "value"),
    [
        ("Sales to our largest customer, Vantor, represented approximately 13% of our net sales in 2023.", "Yes", 13.0),
        ("No single customer accounted for more than 10% of our net sales in any of the last three years.", "No", None),
        ("Our largest customer accounted for 4% of total revenues.", "No", None),
    ],
)
def test_the_sentence_decides_and_is_quoted(text: str, start: str, value: float | None) -> None:
    other = "We have not had credit losses with customers. Margins were 45% of sales and grew."
    answer = judged_customers(_concentration(), [_passage(other), _passage(f"Customers. {text} We sell valves.")])
    assert answer is not None
    assert answer.text.startswith(start)
    assert f"“{text}” (torvane, p. 8)" in answer.text
    assert answer.value == value
    assert "10% of revenue" in answer.text
    assert len(answer.evidence) == 1


def test_no_sentence_no_verdict() -> None:
    assert judged_customers(_concentration(), [_passage("Customers like our valves. Sales grew 12%.")]) is None


@pytest.mark.parametrize(
    "question",
    ["Does Torvane have customers in Canada?", "What did customers pay?", "Is the single largest plant idle?"],
)
def test_other_questions_about_customers(question: str) -> None:
    assert concentration_of(Query(question, question)) is None

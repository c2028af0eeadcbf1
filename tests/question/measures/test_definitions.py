"""Definitions that a question brings along, as far as the answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from finray.core.predictions import Prediction
from finray.question.measures.definitions import defined_formula, unread_definition

ASKED = "What was the asset intensity of CLDVC in FY2022? Asset intensity is defined as: {}."
NOT_UNDERSTOOD = [
    "~" * 900 + "1",
    "the mood of the board",
    "delta(" * 14 + "revenue" + ")" * 14,
    "(" * 250 + "revenue" + ")" * 250,
    "+".join(["revenue"] * 150),
    "lambda: revenue",
    "(revenue + " * 55 + "revenue" + ")" * 55 + " / total assets" * 40,
]


@pytest.mark.parametrize("definition", NOT_UNDERSTOOD)
def test_a_definition_that_is_not_understood_is_named_and_not_computed(
    ask: Callable[[str], Prediction], definition: str
) -> None:
    question = ASKED.format(definition)
    assert defined_formula(question) is None
    assert unread_definition(question) == definition
    prediction = ask(question)
    assert (prediction.status, prediction.value) == ("unanswerable", None)
    assert "a definition that is understood" in prediction.missing[0]
    assert len(prediction.answer) < 1_000


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        (
            "DPO is defined as: 365 * (average accounts payable between FY2016 and FY2017) / (FY2017 COGS + change in "
            "inventory between FY2016 and FY2017). Round your answer.",
            "365 * (avg(accounts_payable)) / (cost_of_revenue + delta(inventory))",
        ),
        (
            "ROA is defined as: FY2017 net income / (average total assets between FY2016 and FY2017).",
            "net_income / (avg(total_assets))",
        ),
        ("It is defined as: revenue m\u0131nu\u017f inventory.", None),
        ("What is revenue?", None),
    ],
)
def test_a_definition_is_an_expression_over_line_items(question: str, expression: str | None) -> None:
    found = defined_formula(question)
    assert (found and found.replace(" ", "")) == (expression and expression.replace(" ", ""))


def test_one_that_is_understood_is_computed(ask: Callable[[str], Prediction]) -> None:
    question = ASKED.format("revenue / total assets")
    assert unread_definition(question) is None
    assert ask(question).status == "answered"
    assert unread_definition("What is revenue?") is None

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


def test_one_that_is_understood_is_computed(ask: Callable[[str], Prediction]) -> None:
    question = ASKED.format("revenue / total assets")
    assert unread_definition(question) is None
    assert ask(question).status == "answered"
    assert unread_definition("What is revenue?") is None

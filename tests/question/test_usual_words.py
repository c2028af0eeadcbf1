"""When the usual name of a metric stands in place of a question's own words."""

from __future__ import annotations

import pytest

from finray.question.measures.metric_recognizer import Recognized
from finray.question.rule_reader import plain_query
from finray.question.usual_words import in_usual_words


def _read(question: str, metric: str, *pieces: str) -> str:
    spans = tuple((question.index(piece), question.index(piece) + len(piece)) for piece in pieces)
    return in_usual_words(question, plain_query(question), Recognized(metric, spans, 0.9))


def test_the_name_stands_in_place_of_the_longest_piece() -> None:
    question = "What interest did Torvane, all told, collect from its deposits in 2021?"
    read = _read(question, "interest_income", "interest", "collect from its deposits")
    assert read == "What did Torvane, all told, interest income in 2021?"


@pytest.mark.parametrize(
    ("question", "metric", "piece"),
    [
        ("What was Torvane's interest expense on bonds in 2021?", "interest_expense", "interest expense on bonds"),
        ("What part of net sales did Torvane keep in 2021?", "net_income", "keep"),
        ('What does Torvane print beside "suppliers are owed" for 2021?', "accounts_payable", "suppliers are owed"),
        ("How many dollars per share were Torvane's spoils in 2021?", "net_income", "spoils"),
    ],
)  # fmt: skip
def test_what_may_change_the_meaning_is_not_renamed(question: str, metric: str, piece: str) -> None:
    assert _read(question, metric, piece) == question

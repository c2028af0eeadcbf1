"""When the usual name of a metric stands in place of a question's own words."""

from __future__ import annotations

import pytest

from finray.models.question_model import question_model
from finray.question.measures.measure_tagger import Span
from finray.question.measures.metric_recognizer import MetricRecognizer
from finray.question.rule_reader import plain_query
from finray.question.usual_words import Recognized, in_usual_words, recognized, surely_meant


def _spans(question: str, *pieces: str) -> tuple[Span, ...]:
    return tuple((question.index(piece), question.index(piece) + len(piece)) for piece in pieces)


def _read(question: str, *meant: tuple[str, str]) -> str:
    found = [Recognized(metric, _spans(question, piece), 0.9) for metric, piece in meant]
    return in_usual_words(question, surely_meant(question, plain_query(question), found))


def test_the_name_stands_in_place_of_the_longest_piece() -> None:
    question = "What interest did Torvane, all told, collect from its deposits in 2021?"
    found = [Recognized("interest_income", _spans(question, "interest", "collect from its deposits"), 0.9)]
    read = in_usual_words(question, surely_meant(question, plain_query(question), found))
    assert read == "What did Torvane, all told, interest income in 2021?"


def test_two_quantities_get_their_names() -> None:
    question = "What percentage of its turnover was Torvane's bill for income taxes in 2021?"
    read = _read(question, ("income_tax", "bill for income taxes"), ("revenue", "turnover"))
    assert read == "What percentage of its revenue was Torvane's income tax in 2021?"


def test_a_name_within_the_words_gives_way_to_the_usual_one() -> None:
    assert "bottom-line" not in _read("Torvane's bottom-line profit, 2021?", ("net_income", "bottom-line profit"))


@pytest.mark.parametrize(
    ("question", "metric", "piece"),
    [
        ("What was Torvane's interest expense on bonds in 2021?", "interest_expense", "interest expense on bonds"),
        ("What was Torvane's revenue from licences in 2021?", "revenue", "revenue from licences"),
        ("What part of net sales did Torvane keep in 2021?", "net_income", "keep"),
        ('What does Torvane print beside "suppliers are owed" for 2021?', "accounts_payable", "suppliers are owed"),
        ("How many dollars per share were Torvane's spoils in 2021?", "net_income", "spoils"),
    ],
)  # fmt: skip
def test_what_may_change_the_meaning_is_not_renamed(question: str, metric: str, piece: str) -> None:
    assert _read(question, (metric, piece)) == question


def test_two_quantities_are_not_called_alike() -> None:
    question = "What share of the goods in stock were goods on the shelves of Torvane in 2021?"
    assert _read(question, ("inventory", "goods in stock"), ("inventory", "goods on the shelves")) == question


def test_the_pieces_of_a_quantity_are_recognized_together_else_one_by_one() -> None:
    recognizer = MetricRecognizer(question_model())
    question = "Which amount of profit from its operations does Torvane report in the Hardware segment?"
    (found,) = recognized(question, [_spans(question, "profit from its operations", "Hardware segment")], recognizer)
    assert found.metric == "operating_income"
    assert found.pieces == _spans(question, "profit from its operations")

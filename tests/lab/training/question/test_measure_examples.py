"""Questions framed of people's phrases."""

from __future__ import annotations

import pytest

from finray.lab.training.question.measure_examples import framed_questions, phrases_of
from finray.lab.training.question.metric_examples import Wording
from finray.models.question_model import OPERATIONS

PHRASES = ["what it owes its suppliers", "bill for income taxes", "Stores in Ohio", "takings from customers"]


def test_the_marked_words_stand_in_the_question_once() -> None:
    found = list(framed_questions(PHRASES, 200))
    assert len(found) == 200
    for each in found:
        assert each.operation in OPERATIONS
        assert each.measures is not None
        assert all(each.question.count(piece) == 1 for pieces in each.measures for piece in pieces)
        assert all(each.question[start:end] for start, end in each.companies)


def test_a_seed_makes_the_same_questions() -> None:
    assert list(framed_questions(PHRASES, 20, seed=3)) == list(framed_questions(PHRASES, 20, seed=3))


def test_one_phrase_is_too_few() -> None:
    with pytest.raises(ValueError, match="two phrases"):
        next(framed_questions(PHRASES[:1], 1))


def test_labels_of_rows_stand_beside_peoples_phrases() -> None:
    wordings = [Wording("inventory", "phrase", f"goods on shelf {letter}", "lay") for letter in "abcd"]
    found = phrases_of(wordings, [{"cells": [{"label": "Deferred rent"}]}])
    assert len(found) == 6
    assert {each.lower() for each in found[4:]} == {"deferred rent"}

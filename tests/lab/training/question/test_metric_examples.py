"""The questions that teach the recognizer of metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from finray.core.errors import UsageError
from finray.lab.training.question.metric_examples import Wording, framed, of_other_figures, read_wordings
from finray.question.measures.usual_names import usual_names

WORDINGS = Path(__file__).parents[4] / "benchmarks" / "metric_wordings" / "wordings.jsonl"


def test_the_words_of_a_phrase_are_where_they_stand() -> None:
    found = list(framed([Wording("inventory", "phrase", "goods waiting for buyers", "lay")]))
    assert {example.metric for example in found} == {"inventory", "none"}  # also of a part of the company
    for example in found:
        assert example.words is not None
        (words,) = example.words
        assert example.question[slice(*words)] == "goods waiting for buyers"
        assert all(example.question[start:end] for start, end in example.companies)


def test_the_words_of_a_question_are_those_in_brackets() -> None:
    text = "What [[interest]] did COMPANY [[earn]] in PERIOD?"
    (example,) = framed([Wording("interest_income", "question", text, "lay")])
    assert example.words is not None
    assert [example.question[slice(*words)] for words in example.words] == ["interest", "earn"]
    assert "[" not in example.question
    assert "COMPANY" not in example.question


def test_a_near_miss_is_no_metric() -> None:
    assert {example.metric for example in framed([Wording("inventory", "near", "inventory reserve", "lay")])} == {
        "none"
    }


def test_questions_about_line_items_are_left_out() -> None:
    line = {"question": "q", "evidence": [{"doc_name": "A", "page": 1}]}
    kept = [{**line, "cells": [{"label": "Stores in Ohio"}]}, {**line, "cells": [{"label": "Total assets"}]}]
    assert len(list(of_other_figures(kept))) == 1


@pytest.mark.parametrize(
    "record",
    [
        {"metric": "good luck", "kind": "phrase", "text": "luck", "writer": "lay"},
        {"metric": "inventory", "kind": "guess", "text": "stock", "writer": "lay"},
        {"metric": "inventory"},
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, record: dict[str, object]) -> None:
    path = tmp_path / "wordings.jsonl"
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(UsageError, match="line 1"):
        read_wordings(path)


def test_the_shipped_wordings_are_of_known_metrics() -> None:
    assert {*usual_names()} <= {each.metric for each in read_wordings(WORDINGS)}

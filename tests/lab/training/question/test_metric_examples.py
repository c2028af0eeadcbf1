"""The questions that teach the recognizer of metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from finray.core.errors import UsageError
from finray.lab.training.question.metric_examples import (
    Wording,
    narrowed,
    of_other_figures,
    parts_of,
    phrases,
    read_wordings,
)
from finray.models.question_model import question_model
from finray.question.measures.formulas import usual_names
from finray.question.measures.measure_tagger import MeasureTagger

WORDINGS = Path(__file__).parents[4] / "benchmarks" / "metric_wordings" / "wordings.jsonl"


def test_a_question_teaches_its_words_in_brackets() -> None:
    text = "What [[interest]] did COMPANY [[earn]] in PERIOD?"
    (phrase,) = phrases([Wording("interest_income", "question", text, "lay")])
    assert (phrase.text, phrase.metric) == ("interest earn", "interest_income")


def test_a_near_miss_is_no_metric() -> None:
    (phrase,) = phrases([Wording("inventory", "near", "inventory reserve", "lay")])
    assert phrase.metric == "none"


def test_the_metric_of_a_part_is_none() -> None:
    (phrase,) = narrowed([Wording("revenue", "phrase", "turnover", "lay")], ["Asia"])
    assert phrase.metric == "none"
    assert {"turnover", "Asia"} <= set(phrase.text.split())


def test_questions_about_line_items_are_left_out() -> None:
    line = {"question": "How many stores did it run in Ohio?", "evidence": [{"doc_name": "A", "page": 1}]}
    kept = [{**line, "cells": [{"label": "Stores in Ohio"}]}, {**line, "cells": [{"label": "Total assets"}]}]
    found = list(of_other_figures(kept, MeasureTagger(question_model())))
    assert {each.metric for each in found} == {"none"}
    assert len(found) == 1
    assert parts_of(kept) == ["Stores in Ohio"]


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
    asked = {*usual_names()} - {"current_debt"}  # a part of other metrics, which nobody asks for by that name
    assert asked <= {each.metric for each in read_wordings(WORDINGS)}

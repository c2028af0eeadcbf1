"""The file of marked questions, questions in brackets, and those whose operation is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from finray.core.errors import UsageError
from finray.lab.training.question.marked_questions import bracketed, marked_questions, with_operations
from finray.lab.training.question.metric_examples import Wording

QUESTIONS = Path(__file__).parents[4] / "benchmarks" / "measure_spans" / "questions.jsonl"
WORDING = Wording("revenue", "question", "What did COMPANY [[take in]] in PERIOD [[from customers]]?", "lay")


@pytest.mark.parametrize(
    "record",
    [
        {"question": "What was rent?", "measures": [["revenue"]], "operation": "value", "source": "x"},
        {"question": "What was rent?", "measures": [["rent"]], "operation": "guess", "source": "x"},
        {"question": "What was rent?"},
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, record: dict[str, object]) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(UsageError, match="line 1"):
        marked_questions(path)


def test_the_words_in_brackets_are_marked() -> None:
    found = list(bracketed([WORDING] * 30))
    assert len(found) == 30
    for each in found:
        assert each.measures is not None
        assert [piece.lower() for piece in each.measures[0]] == ["take in", "from customers"]
        assert "[" not in each.question and "COMPANY" not in each.question
        assert all(each.question[slice(*place)] for place in each.companies)
        assert each.writer == "lay"
    assert list(bracketed([WORDING] * 30)) == found


def test_computations_over_rows_count_as_what_they_ask_for() -> None:
    lines: list[dict[str, object]] = [
        {"question": "a", "operation": "share_change", "evidence": []},
        {"question": "b", "kind": "why", "evidence": []},
        {"question": "c", "operation": "other", "evidence": []},
        {"question": "d", "operation": "value", "context": "of TAT-QA"},
    ]
    assert [(each.question, each.operation) for each in with_operations(lines)] == [("a", "difference"), ("b", "words")]

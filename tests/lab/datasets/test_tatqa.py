from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from finray.batch.question_files import BadLine
from finray.core.questions import Question
from finray.lab.datasets.tatqa import TatqaContext, load, read_contexts

RECORD = {
    "table": {"uid": "t1", "table": [["", "2019", "2018"], ["Inventories", "1,571.7", "1,500.0"]]},
    "paragraphs": [{"uid": "p1", "order": 1, "text": "In millions."}, {"uid": "p2", "order": 2, "text": "Else."}],
    "questions": [
        {
            "uid": "q1", "question": "What is the percentage change in inventories?", "answer": 4.78,
            "derivation": "(1,571.7-1,500.0)/1,500.0", "answer_type": "arithmetic", "answer_from": "table-text",
            "rel_paragraphs": ["1"], "scale": "percent", "facts": ["1571.7", "1500.0"],
            "mappings": [{"table": [1, 1]}, {"table": [1, 2]}, {"paragraph_1": [0, 2]}],
        },
        {
            "uid": "q2", "question": "What were inventories?", "answer": ["1,571.7", "1,500.0"], "derivation": "",
            "answer_type": "multi-span", "answer_from": "table", "rel_paragraphs": [], "scale": "million",
        },
    ],
}  # fmt: skip


def read(*records: object) -> list[TatqaContext | BadLine]:
    return list(read_contexts(json.dumps(records).encode(), "tatqa.json"))


def test_contexts_are_typed() -> None:
    (context,) = read(RECORD)
    assert isinstance(context, TatqaContext)
    assert context.table_text == "2019 | 2018\nInventories | 1,571.7 | 1,500.0"
    change, spans = context.questions
    assert (change.value, change.answer_text, change.cells) == (4.78, "4.78%", ((1, 1), (1, 2)))
    assert (change.paragraphs, change.from_table, change.facts) == ((1,), True, ("1571.7", "1500.0"))
    assert (spans.value, spans.answer, spans.answer_text) == (None, ("1,571.7", "1,500.0"), "1,571.7; 1,500.0")
    assert context.gold_text(change) == context.table_text + "\nIn millions."


def test_a_bad_question_does_not_spoil_its_context() -> None:
    record = copy.deepcopy(RECORD)
    record["questions"][0]["answer_type"] = "guess"  # type: ignore[index]
    context, bad = read(record)
    assert isinstance(context, TatqaContext) and isinstance(bad, BadLine)
    assert [question.uid for question in context.questions] == ["q2"]
    assert bad.line == 1 and "question 1" in bad.reason and "guess" in bad.reason


def test_a_bad_context_is_numbered() -> None:
    results = read(RECORD, {"table": 5}, RECORD)
    assert [isinstance(result, BadLine) for result in results] == [False, True, False]


@pytest.mark.parametrize("answer", ["many", float("inf"), [], [1, 2], None, {"a": 1}])
def test_arithmetic_needs_one_number(answer: object) -> None:
    record = copy.deepcopy(RECORD)
    record["questions"][0]["answer"] = answer  # type: ignore[index]
    _, bad = read(record)
    assert isinstance(bad, BadLine) and "answer" in bad.reason


@pytest.mark.shared
@pytest.mark.parametrize(("file", "count"), [("tatqa_dataset_dev.json", 1668), ("tatqa_dataset_test_gold.json", 1663)])
def test_the_published_files_load_whole(shared_data: Path, file: str, count: int) -> None:
    path = shared_data / "tatqa" / file
    results = list(load(path.read_bytes(), str(path)))
    assert len(results) == count
    assert all(isinstance(result, Question) for result in results)

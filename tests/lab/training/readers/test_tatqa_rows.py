"""Examples of the row reader from TAT-QA's questions, and from further ones about its contexts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finray.lab.training.readers.row_examples import RowExample
from finray.lab.training.readers.tatqa_rows import tatqa_examples

TABLE = [
    ["(in millions)", "2019", "2018"],
    ["Raw materials", "120.5", "100.1"],
    ["Finished goods", "310.0", "305.2"],
    ["Total inventories", "430.5", "405.3"],
]
TEXTS = [
    "Inventories as of December 31 were as follows:",
    "Raw materials rose because resin prices went up.",
    "Finished goods are kept in four warehouses in Ohio.",
]


def _question(uid: str, question: str, answer: Any, **more: Any) -> dict[str, Any]:
    known = {"answer_type": "span", "answer_from": "table", "derivation": "", "rel_paragraphs": [], "scale": ""}
    return {"uid": uid, "question": question, "answer": answer, **known, **more}


def _file(folder: Path, *questions: dict[str, Any]) -> Path:
    paragraphs = [{"uid": f"p{at}", "order": at, "text": text} for at, text in enumerate(TEXTS, start=1)]
    context = {"table": {"uid": "t1", "table": TABLE}, "paragraphs": paragraphs, "questions": list(questions)}
    path = folder / "tatqa.json"
    path.write_text(json.dumps([context]), "utf-8")
    return path


def _arithmetic(question: str, derivation: str, scale: str = "million") -> dict[str, Any]:
    return _question("q", question, 1.0, answer_type="arithmetic", derivation=derivation, scale=scale)


def _gold(example: RowExample, numbers: tuple[int, ...]) -> list[str]:
    return [example.rows[number].split(" | ")[0] for number in numbers]


def test_a_printed_figure_is_in_its_row(tmp_path: Path) -> None:
    (example,) = tatqa_examples([_file(tmp_path, _question("q", "What were raw materials in 2019?", ["120.5"]))], [])
    assert (example.operation, _gold(example, example.first)) == ("value", ["Raw materials"])
    assert example.group == "tatqa:t1"
    assert len(example.rows) == 3


@pytest.mark.parametrize(
    ("derivation", "scale", "operation", "first", "second", "several"),
    [
        ("120.5-100.1", "million", "difference", ["Raw materials"], [], False),
        ("-120.5 - (100.1)", "million", "difference", ["Raw materials"], [], False),
        ("(430.5-405.3)/405.3", "percent", "growth", ["Total inventories"], [], False),
        ("((430.5-405.3)/405.3)*100", "percent", "growth", ["Total inventories"], [], False),
        ("120.5/430.5", "percent", "share", ["Raw materials"], ["Total inventories"], True),
        ("310.0/120.5", "", "ratio", ["Finished goods"], ["Raw materials"], True),
        ("(310.0+305.2)/2", "million", "average", ["Finished goods"], [], False),
    ],
)
def test_the_shape_of_a_derivation_is_the_operation(
    tmp_path: Path, derivation: str, scale: str, operation: str, first: list[str], second: list[str], several: bool
) -> None:
    (example,) = tatqa_examples([_file(tmp_path, _arithmetic("What about inventories?", derivation, scale))], [])
    assert example.operation == operation
    assert (_gold(example, example.first), _gold(example, example.second)) == (first, second)
    assert example.several is several


def test_operands_of_several_rows_that_are_added_up_are_listed(tmp_path: Path) -> None:
    (example,) = tatqa_examples([_file(tmp_path, _arithmetic("Both kinds together?", "120.5+310.0"))], [])
    assert sorted(_gold(example, example.listed)) == ["Finished goods", "Raw materials"]


def test_other_computations_and_figures_that_no_row_has_are_left_out(tmp_path: Path) -> None:
    odd = [
        _arithmetic("Odd?", derivation)
        for derivation in ("(120.5*2)-(310.0/3)", "(120.5-100.1)/430.5", "(120.5+310.0)/430.5", "(120.5+310.0)/3")
    ]
    absent, year = _question("q", "Gone?", ["999.9"]), _question("q", "Which year?", ["2019"])
    scaled = _question("q", "Of another scale?", ["1,205"])
    assert list(tatqa_examples([_file(tmp_path, *odd, absent, year, scaled)], [])) == []


def test_an_answer_in_the_text_is_its_sentence(tmp_path: Path) -> None:
    asked = _question("q", "Why did raw materials rise?", ["resin prices went up"], answer_from="text")
    (example,) = tatqa_examples([_file(tmp_path, {**asked, "rel_paragraphs": ["2"]})], [])
    assert example.operation == "none"
    assert [TEXTS[1] in example.rows[number] for number in example.answering] == [True]
    assert len(example.rows) > 1


def test_further_questions_name_cells_or_sentences_of_a_context(tmp_path: Path) -> None:
    cell = {"label": "Finished goods", "text": "310.0", "period_end": "2019-12-31"}
    lines: list[dict[str, Any]] = [
        {"question": "Stock ready for sale, 2019?", "operation": "value", "cells": [cell], "context": "t1"},
        {"question": "How many warehouses?", "kind": "figure", "evidence": [{"text": TEXTS[2]}], "context": "t1"},
        {"question": "Of another context?", "operation": "value", "cells": [cell], "context": "t2"},
        {"question": "Of a filing?", "operation": "value", "cells": [cell], "evidence": [{"doc_name": "A", "page": 1}]},
    ]
    row, sentence = tatqa_examples([_file(tmp_path)], lines)
    assert _gold(row, row.first) == ["Finished goods"]
    assert TEXTS[2] in sentence.rows[sentence.answering[0]]
    assert sentence.operation == "value"

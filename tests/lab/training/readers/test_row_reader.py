"""Fine-tuning the row reader: a few steps on made-up rows, its examples, and the lines that it is given."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from finray.answering.cells.page_cells import PageCells
from finray.answering.table_reader.shortlist import rows_of, shortlist
from finray.core.errors import ModelUnavailableError, UsageError
from finray.core.query import Query
from finray.filings.pages.sentences import Sentence
from finray.lab.training.readers.row_examples import (
    RowExample,
    absent_example,
    is_backwards,
    read_lines,
    rows_of_cell,
    sentence_example,
    table_example,
)
from finray.lab.training.readers.row_reader import RowReaderOptions, fine_tune, operand_recall
from finray.models.row_reader import RowReader
from tests.answering.made_up_cells import END, facts, item, passage

_THINGS = ("rent", "tax", "pensions", "wages", "fuel", "interest")


def _example(number: int) -> RowExample:
    rows = tuple(f"{thing} | amount" for thing in _THINGS)
    gold = number % len(_THINGS)
    return RowExample(f"How much {_THINGS[gold]} was paid?", rows, "value", f"c{number % 3}", first=(gold,))


def test_steps_on_rows_and_sentences_give_weights_that_can_be_read() -> None:
    sentence = RowExample("Why?", ("Because of 5 fires.", "Not.", "Never."), "none", "c", answering=(0,), figure="")
    figure = RowExample("Rent?", ("Rent was $5 in 3 towns.", "No."), "value", "c", answering=(0,), figure="$5")
    absent = RowExample("Why?", ("tax", "rent"), "none", "c")
    pair = RowExample(
        "Tax over rent?", ("tax", "rent", "fuel"), "ratio", "c", (0,), (1,), several=True, measure="money"
    )
    fall = RowExample("Fall of tax?", ("tax", "rent"), "difference", "c", (0,), several=False, backwards=True)
    several = RowExample("Tax and rent?", ("tax", "rent", "fuel"), "sum", "c", listed=(0, 1), several=True)
    lines: list[str] = []
    options = RowReaderOptions(epochs=1, questions=2, rows=3)
    state = fine_tune([_example(0), pair, fall, several, sentence, figure, absent], options, lines.append)
    assert "loss" in lines[-1]
    assert not any("word_embeddings" in name for name in state)
    scores = RowReader(state).rows("How much tax?", ["tax", "rent"])
    assert np.isfinite(scores.first).all()


def test_training_goes_on_from_weights_and_finds_the_rows() -> None:
    given = [_example(number) for number in range(12)]
    options = RowReaderOptions(epochs=2, questions=4, rows=6, rate=3e-4)
    begun = fine_tune(given, replace(options, epochs=1), lambda _: None)
    state = fine_tune(given, options, lambda _: None, begun)
    assert np.mean(operand_recall(RowReader(state), given, rows=6)) > 0.5


def test_weights_of_something_else_are_refused_as_a_start() -> None:
    with pytest.raises(ModelUnavailableError, match="no weights of the row reader"):
        fine_tune([_example(0)], RowReaderOptions(), print, {"other.weight": np.zeros((2, 2))})


def test_training_without_examples_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to learn from"):
        fine_tune([], RowReaderOptions(), print)


def test_recall_counts_questions_whose_row_is_among_those_read() -> None:
    reader = RowReader()
    assert len(operand_recall(reader, [_example(0), _example(5)], rows=3)) == 1


def test_operands_of_one_row_are_periods_of_it() -> None:
    source = facts()
    rows = shortlist(
        rows_of(Query("spending", "spending"), PageCells(source).read([passage(3), passage(5)]), source), 10
    )
    growth = table_example("q", "growth", rows, [(0, 1), (0,)], "acme")
    assert growth is not None
    assert (growth.first, growth.second, growth.several) == ((0,), (), False)
    share = table_example("q", "share", rows, [(0,), (1,)], "acme")
    assert share is not None
    assert (share.first, share.second, share.several) == ((0,), (1,), True)
    total = table_example("q", "sum", rows, [(0,), (1,)], "acme")
    assert total is not None
    assert total.listed == (0, 1)
    assert table_example("q", "share", rows, [(0,), ()], "acme") is None


def test_the_first_operand_tells_the_measure() -> None:
    source = facts()
    found = shortlist(rows_of(Query("granted", "granted"), PageCells(source).read([passage(5)]), source), 10)
    measures = [table_example("q", "value", found, [(row,)], "acme") for row in range(len(found.series))]
    assert {"shares", "per share", "money", "percent", "number"} == {each.measure for each in measures if each}


@pytest.mark.parametrize(
    ("operation", "ends", "backwards"),
    [
        ("difference", ("2021-12-31", "2022-12-31"), True),
        ("growth", ("2022-12-31", "2021-12-31"), False),
        ("difference", ("2022-12-31", "2022-12-31"), None),
        ("ratio", ("2022-12-31", None), None),
        ("sum", ("2021-12-31", "2022-12-31"), None),
        ("value", ("2021-12-31",), None),
    ],
)
def test_the_order_of_two_periods(operation: str, ends: tuple[str | None, ...], backwards: bool | None) -> None:
    line = {"operation": operation, "cells": [{"period_end": end} for end in ends]}
    assert is_backwards(line) is backwards


def test_a_cell_is_found_under_another_head_of_its_column() -> None:
    source = facts((item(3, 1, "Rent", 5.0), item(3, 2, "Wages", 6.0)))
    rows = shortlist(rows_of(Query("rent", "rent"), PageCells(source).read([passage(3)]), source), 10)
    cell = {"text": "5", "label": "Rent", "column": "Acme and Subsidiaries", "period_end": str(END)}
    assert [rows.series[owner].first.item.label for owner in rows_of_cell(cell, rows, 3)] == ["Rent"]


def test_each_wording_of_a_question_counts(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    line = {"questions": ["Tax?", "Paid to the state?"], "operation": "value", "cells": [], "context": "t1"}
    path.write_text(f"{json.dumps(line)}\n{json.dumps({'question': 'Why?', 'kind': 'why', 'evidence': []})}\n")
    assert [line["question"] for line in read_lines(path)] == ["Tax?", "Paid to the state?", "Why?"]


def test_a_question_about_a_figure_of_a_sentence_names_it(tmp_path: Path) -> None:
    path = tmp_path / "prose.jsonl"
    line = {"question": "Rent?", "question_type": "prose_figure", "answer": "$5 million", "evidence": []}
    path.write_text(json.dumps(line))
    (read,) = read_lines(path)
    assert (read["kind"], read["figure"]) == ("figure", "$5 million")


@pytest.mark.parametrize(
    ("line", "figure"),
    [
        ({"kind": "figure", "figure": "$5"}, "$5"),
        ({"kind": "figure", "sentence": "Rent was $7 in 2022."}, "$7"),
        ({"kind": "figure", "sentence": "Rent was $7, after $6."}, None),
        ({"kind": "why", "sentence": "Rent was $7 because of 3 towns."}, ""),
    ],
)
def test_the_figure_of_a_sentence_that_answers(line: dict[str, str], figure: str | None) -> None:
    text = line.get("sentence", "Rent was $5, after $6.")
    asked = {"question": "Rent?", "evidence": [{"text": text}], **line}
    found = sentence_example(asked, "rent", [Sentence(0, 9, text, "", 0)], "acme")
    assert found is not None
    assert found.figure == figure


def test_rows_that_may_print_the_figure_of_a_sentence_do_not_count_as_absent() -> None:
    source = facts(tuple(item(3, row, label, 10.0 * row) for row, label in enumerate(_THINGS, start=1)))
    rows = shortlist(rows_of(Query("rent", "rent"), PageCells(source).read([passage(3)]), source), 10)

    def line(kind: str, text: str) -> dict[str, object]:
        return {"question": "Rent?", "kind": kind, "evidence": [{"text": text}]}

    assert absent_example(line("figure", "Rent was $60."), rows, "acme") is None
    absent = absent_example(line("figure", "Rent was $65 in 2022."), rows, "acme")
    assert absent is not None
    assert (len(absent.rows), absent.gold) == (len(_THINGS), frozenset())
    assert absent_example(line("why", "Rent was $60."), rows, "acme") is not None


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "Why?", "evidence": []}))
    with pytest.raises(UsageError, match="line 1"):
        read_lines(path)
    for line in ({"question": "Rent?", "question_type": "prose_figure", "evidence": []}, ["Why?"], 5):
        path.write_text(json.dumps(line))
        with pytest.raises(UsageError, match="line 1"):
            read_lines(path)
    with pytest.raises(UsageError, match="no file of questions"):
        read_lines(tmp_path / "absent.jsonl")

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from finray.core.errors import SourceError
from finray.lab.training.fine_tuning.tatqa import tatqa_corpus


def test_tables_and_paragraphs_are_passages(tatqa_file: Callable[..., str]) -> None:
    corpus = tatqa_corpus(tatqa_file(2), "passages")
    table, first, second = corpus.units["tatqa:t0"]
    assert table.text == "2019\nrevenue cost | $ 01.5"
    assert (table.is_table, first.is_table) == (True, False)
    asked = {question.qid: question for question in corpus.questions}
    assert asked["q0t"].gold == (table.key,)
    assert asked["q0p"].gold == (second.key,)
    assert asked["q0p"].spared == {table.page}


def test_a_context_is_a_page(tatqa_file: Callable[..., str]) -> None:
    corpus = tatqa_corpus(tatqa_file(1), "pages")
    (page,) = corpus.units["tatqa:t0"]
    assert page.text.splitlines() == [
        "The table shows revenue.",
        "2019",
        "revenue cost | $ 01.5",
        "We measure revenue at fair value.",
    ]
    assert all(question.gold == (page.key,) for question in corpus.questions)


def test_malformed_contexts_are_skipped_with_the_reason(tatqa_file: Callable[..., str]) -> None:
    wrong = tatqa_corpus(tatqa_file(2, table={"uid": "t", "table": 7}), "passages")
    assert wrong.questions == ()
    assert all("malformed" in left.reason for left in wrong.left_out)
    assert len(wrong.left_out) == 2
    gone = {"uid": "q", "question": "?", "answer": ["x"], "answer_type": "span", "answer_from": "text", "scale": ""}
    (left, _) = tatqa_corpus(tatqa_file(2, questions=[gone | {"rel_paragraphs": ["9"]}]), "passages").left_out
    assert left.reason == "its gold paragraph is not in the context"


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    with pytest.raises(SourceError, match=r"x\.json"):
        tatqa_corpus(str(path), "pages")

"""The question files and indexes that the commands which fit small models read."""

from __future__ import annotations

from pathlib import Path

import pytest

from finray.cli.train.fitting import sources_of, sources_or_data
from finray.core.errors import UsageError


def test_one_index_serves_all_question_files() -> None:
    assert sources_of(["a.jsonl", "b.jsonl"], ["one"]) == [("a.jsonl", "one"), ("b.jsonl", "one")]
    assert sources_of(["a.jsonl", "b.jsonl"], ["one", "two"]) == [("a.jsonl", "one"), ("b.jsonl", "two")]


@pytest.mark.parametrize(
    ("questions", "indexes"), [(None, None), (["a.jsonl"], None), (None, ["one"]), (["a", "b", "c"], ["one", "two"])]
)
def test_other_numbers_of_indexes_are_an_error(questions: list[str] | None, indexes: list[str] | None) -> None:
    with pytest.raises(UsageError, match=f"{len(questions or ())} --questions and {len(indexes or ())} --index"):
        sources_of(questions, indexes)


def test_data_is_read_only_without_question_files(tmp_path: Path) -> None:
    data = tmp_path / "data.npz"
    with pytest.raises(UsageError, match=r"data\.npz is missing: give --questions and --index to create it"):
        sources_or_data(None, None, data)
    data.touch()
    assert sources_or_data(None, None, data) == []
    assert sources_or_data(["a.jsonl"], ["one"], data) == [("a.jsonl", "one")]

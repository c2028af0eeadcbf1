"""``finray train question-model``, on a few questions and wordings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from finray.core.errors import UsageError
from finray.lab.training.question.question_data import question_data
from finray.models.question_model import LABELS, WEIGHTS
from tests.cli.conftest import Run

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def _some(path: Path, source: Path, every: int) -> Path:
    path.write_text("".join(source.read_text("utf-8").splitlines(keepends=True)[::every]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("questions")
    return (
        _some(folder / "marked.jsonl", BENCHMARKS / "measure_spans" / "questions.jsonl", 60),
        _some(folder / "wordings.jsonl", BENCHMARKS / "metric_wordings" / "wordings.jsonl", 60),
        _some(folder / "others.jsonl", BENCHMARKS / "table_questions" / "sentences.jsonl", 60),
    )


@pytest.mark.slow
def test_it_is_fitted_and_scored_on_what_is_held_out(
    finray: Run, files: tuple[Path, Path, Path], sample_index: str, tmp_path: Path
) -> None:
    marked, wordings, others = files
    given = ["--wordings", wordings, "--others", others, "--framed", 4, "--steps", 2, "--out", tmp_path]
    command = ["train", "question-model", marked, "--index", sample_index, *given]
    result = finray(*command, "--without", "tables", "--without", "lay", "--json")
    assert result.code == 0
    assert {"operation", "F1 of the marked words", "phrase"} <= set(result.json)
    assert (tmp_path / WEIGHTS).exists() and (tmp_path / LABELS).exists()

    without = finray(*command)
    assert without.code != 0
    assert "give --threshold" in without.err


def test_what_is_held_out_is_not_learned(files: tuple[Path, Path, Path], sample_index: str) -> None:
    marked, wordings, others = files
    lines = [json.loads(line) for line in others.read_text("utf-8").splitlines()]
    data = question_data(marked, sample_index, wordings, lines, frozenset({"tables", "lay"}), framed=2)
    assert {each.marked.source for each in data.marked} == {"filing_questions", "xbrl_wordings"}
    assert {each.marked.source for each in data.held_questions} == {"tables", "bracketed", "framed"}
    assert all(each.group != "lay" for each in data.phrases)
    assert any(each.group == "lay" for each in data.held_phrases)


def test_a_name_that_nothing_has_cannot_be_held_out(files: tuple[Path, Path, Path], sample_index: str) -> None:
    marked, wordings, _ = files
    with pytest.raises(UsageError, match=r"of 'lai'; there are"):
        question_data(marked, sample_index, wordings, [], frozenset({"lai"}), framed=2)


def test_a_line_that_is_no_wording_is_named(files: tuple[Path, Path, Path], sample_index: str, tmp_path: Path) -> None:
    marked, _, _ = files
    bad = tmp_path / "wordings.jsonl"
    bad.write_text('{"metric": "revenue"}\n')
    with pytest.raises(UsageError, match=r"wordings\.jsonl, line 1"):
        question_data(marked, sample_index, bad, [], frozenset(), framed=2)

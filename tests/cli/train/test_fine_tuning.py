from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from finray.cli import app
from finray.core.errors import SourceError, UsageError
from finray.lab.training.fine_tuning.options import PUBLISHED_PAGE_SCORER
from finray.lab.training.fine_tuning.runs import Run


def train(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["train", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_dry_run_counts_the_data_and_writes_nothing(sample_folder: Path, sample_index: str, tmp_path: Path) -> None:
    questions = str(sample_folder / "questions.jsonl")
    output = train(
        "reranker", "--questions", questions, "--index", sample_index, "--out", str(tmp_path / "m"), "--dry-run"
    )
    assert "questions: " in output
    assert "questions on" in output
    assert "skipped: " in output
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["page-scorer"], "nothing to learn from"),
        (["page-scorer", "--questions", "q.jsonl"], "1 --questions and 0 --index"),
        (["reranker", "--tatqa", "x.json", "--out", "s3://bucket/m"], "use a local folder"),
    ],
)
def test_mismatched_arguments_are_an_error(arguments: list[str], reason: str, tmp_path: Path) -> None:
    out = [] if "--out" in arguments else ["--out", str(tmp_path / "m")]
    with pytest.raises(UsageError, match=reason):
        train(*arguments, *out)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"cannot read .*nowhere\.json"):
        train("reranker", "--tatqa", str(tmp_path / "nowhere.json"), "--out", str(tmp_path / "m"))


def test_a_bad_question_line_stops_before_training(tmp_path: Path, sample_index: str) -> None:
    (tmp_path / "q.jsonl").write_text('{"qid": "1", "question": "?"}\nnot json\n')
    with pytest.raises(UsageError, match="line 2: not JSON"):
        train(
            "reranker", "--questions", str(tmp_path / "q.jsonl"), "--index", sample_index, "--out", str(tmp_path / "m")
        )


def test_a_recipe_replaces_the_defaults_but_not_what_is_given(
    sample_folder: Path, sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[tuple[Run, int]] = []

    def train_folds(run: Run, out: Path, folds: int, reports: object) -> dict[str, Any]:
        runs.append((run, folds))
        return {"held_out": {}}

    monkeypatch.setattr("finray.lab.training.fine_tuning.runs.train_folds", train_folds)
    data = ["--questions", str(sample_folder / "questions.jsonl"), "--index", sample_index, "--out", str(tmp_path)]
    output = train("page-scorer", *data, "--base", "minilm", "--recipe", "page-scorer")
    assert "recipe page-scorer: minilm, 5 folds" in output
    train("page-scorer", *data, "--recipe", "page-scorer", "--folds", "3")
    (own, five), (published, three) = runs
    assert (own.options.base, five) == ("minilm", 5)
    assert (published.options, three) == (PUBLISHED_PAGE_SCORER, 3)
    assert (published.options.learning_rate, published.options.epochs, published.options.batch_size) == (2e-5, 15, 16)
    assert published.options.base == "BAAI/bge-m3"


def test_an_unknown_recipe_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no recipe 'pages' for page-scorer; there is: page-scorer"):
        train("page-scorer", "--recipe", "pages", "--out", str(tmp_path))


def test_a_cross_encoder_needs_negatives(sample_folder: Path, sample_index: str, tmp_path: Path) -> None:
    data = ["--questions", str(sample_folder / "questions.jsonl"), "--index", sample_index, "--out", str(tmp_path)]
    with pytest.raises(UsageError, match="--negatives 0"):
        train("reranker", *data, "--negatives", "0")

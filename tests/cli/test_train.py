from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from finray.cli import app
from finray.core.errors import SourceError, UsageError


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

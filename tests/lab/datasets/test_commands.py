"""`finray questions` and `finray convert` as a person or a script sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from finray.batch.question_files import read_questions
from finray.cli import app
from finray.core.errors import SourceError
from finray.core.questions import Question


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_questions_are_written_and_counted(sample_folder: Path, tmp_path: Path) -> None:
    report = sorted((sample_folder / "filings").glob("*-10k.htm"))[0]
    release = sorted((sample_folder / "filings").glob("*release*"))[0]
    target = tmp_path / "questions.jsonl"
    result = run("questions", report, release, "--out", target, "--per-filing", 9, "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout.splitlines()[-1])
    assert (summary["questions"], summary["filings"], len(summary["untagged"])) == (9, 1, 1)
    written = list(read_questions(str(target)))
    assert len(written) == 9
    assert all(isinstance(q, Question) and q.evidence[0].doc_name == report.stem for q in written)


def test_paraphrases_are_written_in_three_parts(sample_folder: Path, tmp_path: Path) -> None:
    reports = sorted((sample_folder / "filings").glob("*-10k.htm"))
    result = run("paraphrases", *reports, "--out", tmp_path / "set", "--count", 40, "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout.splitlines()[-1])
    written = {part: list(read_questions(str(tmp_path / "set" / f"{part}.jsonl"))) for part in summary["questions"]}
    assert {part: len(lines) for part, lines in written.items()} == summary["questions"]
    assert all(summary["facts"][part] > 0 for part, lines in written.items() if lines)


def test_a_file_that_cannot_be_read_is_listed_with_exit_code_1(sample_folder: Path, tmp_path: Path) -> None:
    report = sorted((sample_folder / "filings").glob("*-10k.htm"))[0]
    broken = tmp_path / "broken.html"
    broken.write_bytes(b"<html><body><p>Nothing to see</p></body></html>")
    result = run("questions", report, broken, "--out", tmp_path / "q.jsonl", "--per-filing", 3)
    assert result.exit_code == 1
    assert "broken.html" in result.stdout and "not_a_filing" in result.stdout
    assert len((tmp_path / "q.jsonl").read_text().splitlines()) == 3


def test_without_tagged_filings_the_error_names_inline_xbrl(sample_folder: Path, tmp_path: Path) -> None:
    release = sorted((sample_folder / "filings").glob("*release*"))[0]
    result = run("questions", release, "--out", tmp_path / "q.jsonl")
    assert isinstance(result.exception, SourceError)
    assert "inline XBRL" in str(result.exception)
    assert not (tmp_path / "q.jsonl").exists()


@pytest.mark.parametrize("command", [("questions", "x"), ("convert", "finray", "x")])
def test_a_bad_target_is_rejected_before_the_work(command: tuple[str, ...], tmp_path: Path) -> None:
    result = run(*command, "--out", tmp_path / "q.csv")
    assert isinstance(result.exception, SourceError)
    assert "ends in .jsonl or .parquet" in str(result.exception)


def test_convert_lists_bad_records_with_exit_code_1(tmp_path: Path) -> None:
    source = tmp_path / "test.jsonl"
    good = {"qid": "a", "question": "x", "answer": "1", "evidences": [{"doc_name": "D", "page_num": 2}]}
    source.write_text(json.dumps(good) + "\n" + json.dumps({"qid": "b"}) + "\n{\n")
    result = run("convert", "lofin", source, "--out", tmp_path / "q.parquet")
    assert result.exit_code == 1
    assert "1 questions of lofin" in result.stdout
    assert "record 2: no question" in result.stdout and "record 3: not JSON" in result.stdout
    assert [q.qid for q in read_questions(str(tmp_path / "q.parquet"))] == ["a"]

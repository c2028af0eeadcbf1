"""The command line as users and scripts see it: exit codes, streams, error messages."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from finray.cli import app
from tests.weightless import OPTIONS

NO_TEXT = ("  ", "\udcff[red]", "a\x00")
Run = Callable[..., Any]


def test_ask_shows_answer_program_and_cited_pages(finray: Run, sample_index: str) -> None:
    result = finray("ask", "What was Grevandor Systems' revenue in fiscal 2022?", "--index", sample_index, *OPTIONS)
    assert result.code == 0
    assert "$1,408.7 million" in result.out
    assert "revenue_fy2022" in result.out
    assert "grevandor-systems-2022-10k, p. 7" in result.out
    assert "transform:" not in result.out


@pytest.mark.usefixtures("one_engine")
def test_ask_traces(finray: Run, sample_index: str) -> None:
    result = finray("ask", "Revenue of Grevandor Systems in 2022?", "--index", sample_index, *OPTIONS, "--trace")
    assert "transform: companies" in result.out
    assert "document 1: grevandor-systems-2022-10k" in result.out


@pytest.mark.usefixtures("one_engine")
def test_ask_prints_json(finray: Run, sample_index: str) -> None:
    question = "What was Grevandor Systems' revenue in fiscal 2022?"
    result = finray("ask", question, "--index", sample_index, *OPTIONS, "--json")
    assert result.code == 0
    assert result.json["value"] == 1_408_729_000
    assert result.json["question"] == question
    assert result.json["evidence"][0]["page"] == 6
    assert "trace" not in result.json
    assert len(result.out.splitlines()) == 1
    assert finray("ask", question, "--index", sample_index, *OPTIONS, "--json", "--trace").json["trace"]


@pytest.mark.usefixtures("one_engine")
def test_a_refusal_is_no_failure(finray: Run, sample_index: str) -> None:
    result = finray("ask", "What was Zorblax Corporation's revenue?", "--index", sample_index, *OPTIONS)
    assert result.code == 0
    assert "unanswerable" in result.out
    assert "Zorblax Corporation" in result.out


def test_a_question_that_is_no_text_exits_with_1(finray: Run, sample_index: str) -> None:
    result = finray("ask", NO_TEXT[1], "--index", sample_index, *OPTIONS, "--json")
    assert (result.code, result.json["status"]) == (1, "error")


@pytest.mark.usefixtures("one_engine")
@pytest.mark.parametrize("question", NO_TEXT)
def test_a_question_that_is_no_text_is_shown_as_an_error(finray: Run, sample_index: str, question: str) -> None:
    assert finray("ask", question, "--index", sample_index, *OPTIONS).code == 1
    result = finray("ask", question, "--index", sample_index, *OPTIONS, "--json")
    assert (result.code, result.json["status"]) == (1, "error")


@pytest.mark.usefixtures("one_engine")
def test_markup_in_a_question_is_text(finray: Run, sample_index: str) -> None:
    result = finray("ask", "What was [bold]Zorblax[/nope] Corporation's revenue?", "--index", sample_index, *OPTIONS)
    assert result.code == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["ask", "q", "--index", "no/such/index"], "no/such/index"),
        (["ask", "q", "--server", "http://127.0.0.1:9", "--set", "loop.i_max=1"], "leave out --set"),
        (["ask", "q", "--server", "http://127.0.0.1:9", "--preset", "model"], "leave out --preset"),
        (["ask", "q", "--index", "x", "--preset", "nope"], "unknown preset 'nope'"),
        (["ask", "q", "--index", "x", "--preset", "nope.toml"], "nope.toml"),
        (["ask", "q", "--index", "x", "--set", "loop.i_max"], "section.name=value"),
        (["ask", "q", "--index", "x", "--set", "loop.i_max=99"], "loop.i_max"),
        (["ask", "q", "--index", "x", "--set", "loop.nope=1"], "loop.nope"),
        (["answer", "nope.jsonl", "--index", "x", "--out", "o.jsonl", "--workers", "0"], "nope.jsonl"),
        (["answer", "nope.ods", "--index", "x", "--out", "o.jsonl", "--workers", "0"], ".csv or .xlsx"),
        (["evaluate", "one.jsonl"], "question file"),
        (["evaluate", "nope.jsonl", "nope2.jsonl"], "nope2.jsonl"),
        (["sample", "folder", "--formats", "docx"], "docx"),
        (["sample", "folder", "--companies", "1000"], "1000"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_error_is_one_line_and_exit_code_2(
    finray: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = finray(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith("error: ")
    assert named in result.err


@pytest.mark.parametrize(
    "arguments",
    [["ask"], ["ask", "q"], ["nope"], ["answer", "q", "--index", "x", "--out", "o", "--workers", "-1"], ["sample"]],
    ids=" ".join,
)
def test_wrong_usage_is_2_and_explained(finray: Run, arguments: list[str]) -> None:
    result = finray(*arguments)
    assert result.code == 2
    assert "Usage" in result.err


def test_an_index_of_another_encoder_is_named(finray: Run, sample_index: str) -> None:
    result = finray("ask", "q", "--index", sample_index)
    assert result.code == 2
    assert "--set encoder.model=hash" in result.err
    assert "encoder static" in result.err


def test_answer_then_again_then_evaluate(finray: Run, sample_index: str, few: Path, tmp_path: Path) -> None:
    out = tmp_path / "predictions.jsonl"
    command = ["answer", few, "--index", sample_index, "--out", out, "--workers", "0", *OPTIONS]
    first = finray(*command, "--json")
    assert first.code == 0, first.err
    assert first.json["questions"] == 12
    assert first.json["errors"] == first.json["resumed"] == 0
    assert first.json["answered"] + first.json["unanswerable"] == 12
    asked = [json.loads(line)["qid"] for line in few.read_text(encoding="utf-8").splitlines()]
    assert [json.loads(line)["qid"] for line in out.read_text(encoding="utf-8").splitlines()] == asked

    before = (out.stat().st_mtime_ns, out.read_bytes())
    again = finray(*command)
    assert again.code == 0
    assert "12 from an earlier run" in again.out
    assert (out.stat().st_mtime_ns, out.read_bytes()) == before

    scores = finray("evaluate", out, few, "--json")
    assert scores.code == 0
    assert scores.json
    table = finray("evaluate", out, few)
    assert table.code == 0
    assert "[95% interval]" in table.out
    both = finray("evaluate", out, out, few, "--json")
    assert set(both.json) == {"predictions", str(out)}


@pytest.mark.usefixtures("one_engine")
def test_a_finished_run_needs_no_index(finray: Run, sample_index: str, few: Path, tmp_path: Path) -> None:
    command = ["answer", few, "--out", tmp_path / "p.jsonl", "--workers", "0", *OPTIONS, "--index"]
    assert finray(*command, sample_index).code == 0
    assert finray(*command, "gone").code == 0


@pytest.mark.usefixtures("one_engine")
def test_bad_lines_exit_with_1_and_stand_in_the_file(finray: Run, sample_index: str, few: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.jsonl"
    few.write_text(few.read_text(encoding="utf-8") + '{oops\n{"qid": "b"}\n', encoding="utf-8")
    result = finray("answer", few, "--index", sample_index, "--out", out, "--workers", "0", *OPTIONS)
    assert result.code == 1
    assert "2 errors" in result.out
    stored = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["error"].split(":")[0] for line in stored[12:]] == ["line 13", "line 14"]
    assert finray("evaluate", out, few).code == 0


@pytest.mark.usefixtures("one_engine")
def test_bad_lines_exit_with_0_for_a_scheduler_unless_nothing_was_answered(
    finray: Run, sample_index: str, few: Path, tmp_path: Path
) -> None:
    command = ["--index", sample_index, "--workers", "0", *OPTIONS, "--exit-zero"]
    one = few.read_text(encoding="utf-8").splitlines(keepends=True)[0]
    few.write_text(one + '{oops\n{"qid": "b"}\n', encoding="utf-8")
    result = finray("answer", few, "--out", tmp_path / "some.jsonl", *command)
    assert (result.code, "2 errors" in result.out) == (0, True)
    few.write_text('{oops\n{"qid": "b"}\n', encoding="utf-8")
    assert finray("answer", few, "--out", tmp_path / "none.jsonl", *command).code == 1
    assert finray("answer", few, "--out", tmp_path / "none.ods", *command).code == 2


@pytest.mark.slow
@pytest.mark.usefixtures("one_engine")
def test_an_oracle_run_has_its_own_settings(finray: Run, sample_index: str, few: Path, tmp_path: Path) -> None:
    hashes = set()
    for oracle in ("none", "document", "page"):
        out = tmp_path / f"{oracle}.jsonl"
        finray("answer", few, "--index", sample_index, "--out", out, "--workers", "0", *OPTIONS, "--oracle", oracle)
        hashes |= {json.loads(line)["settings_hash"] for line in out.read_text(encoding="utf-8").splitlines()}
    assert len(hashes) == 3


def test_scoring_needs_questions(finray: Run, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text("{oops\n")
    result = finray("evaluate", tmp_path / "p.jsonl", tmp_path / "q.jsonl")
    assert result.code == 2
    assert "no question that can be scored" in result.err


def test_sample_writes_and_says_what(finray: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    command = ["sample", folder, "--companies", 1, "--years", 1, "--questions", 5, "--formats", "html"]
    result = finray(*command, "--broken")
    assert result.code == 0
    assert "5 questions" in result.out
    assert len((folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()) == 5
    assert finray(*command[:-1], "pdf").code == 2


def test_presets_are_json(finray: Run) -> None:
    assert set(finray("presets").json) >= {"local", "hirec"}


def test_a_process_ends_without_a_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "finray.cli", "ask", "q", "--index", str(tmp_path / "nowhere"), *OPTIONS]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


def test_nothing_heavy_is_imported_before_a_command_runs() -> None:
    heavy = {"fastapi", "httpx", "lance", "numpy", "pyarrow", "ray", "scipy", "torch", "transformers"}
    code = f"import sys, finray.cli; print(*sorted({heavy} & {{*sys.modules}}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_commands_of_jobs_are_commands() -> None:
    jobs = Path(__file__).parents[2] / "jobs"
    for path in jobs.glob("*.py"):
        (arguments,) = re.findall(r"sys\.argv(?:\.insert\(1, |\[1:1\] = \[)([^)\]]+)", path.read_text(encoding="utf-8"))
        command: Any = typer.main.get_command(app)
        for word in re.findall(r'"([^"]+)"', arguments):
            command = command.commands[word]


@pytest.mark.usefixtures("one_engine")
def test_ask_chat_goes_on_with_standard_input(finray: Run, sample_index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "\nand in 2021?\n/history\n/new\nand in 2021?\n/exit\nnever asked\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    first = "What was Grevandor Systems' revenue in fiscal 2022?"
    result = finray("ask", first, "--chat", "--index", sample_index, *OPTIONS, "--json")
    replies = [json.loads(line) for line in result.out.splitlines()]
    assert result.code == 0
    assert [reply["question"] for reply in replies] == [first, "and in 2021?", "and in 2021?"]
    assert replies[1]["resolved"] == "What was Grevandor Systems' revenue in 2021?"
    assert replies[1]["value"] is not None
    assert "resolved" not in replies[2]
    assert first in result.err


def test_ask_without_a_question_needs_chat(finray: Run, sample_index: str) -> None:
    assert finray("ask", "--index", sample_index).code == 2

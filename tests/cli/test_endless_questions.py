"""Commands with a hanging question end with an error at the time limit, or on Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from finray.cli.answer import answer
from finray.cluster import bulk_run
from finray.engines.questions import QuestionEngine
from tests.engines import wild

ASK = """
import sys
from functools import partial
from finray.cli import main
from finray.engines import questions
from tests.engines import wild

questions.QuestionEngine = partial(questions.QuestionEngine, opening=wild.OPENING)
main()
"""


def ask(*options: str, index: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ASK, "ask", "regex", "--index", str(index), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_question_past_its_time_limit_is_an_error(tmp_path: Path) -> None:
    with ask("--json", "--set", "bulk.question_seconds=0.5", index=tmp_path) as process:
        out, _ = process.communicate()
    assert process.returncode == 1
    assert "not answered after 0.5 s (bulk.question_seconds" in json.loads(out)["error"]


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_interrupting_a_command_ends_a_question_that_holds_the_gil(tmp_path: Path, number: signal.Signals) -> None:
    with ask(index=tmp_path) as process:
        engines: list[psutil.Process] = []
        deadline = time.monotonic() + 60
        while not any(engine.cpu_times().user > 0.8 for engine in engines):
            assert time.monotonic() < deadline
            time.sleep(0.1)
            engines = psutil.Process(process.pid).children()
        process.send_signal(number)
        out, _ = process.communicate(timeout=30)
    assert process.returncode != 0
    assert out == ""
    assert psutil.wait_procs(engines, timeout=10)[1] == []


def test_a_bulk_run_continues_after_a_hanging_question(
    sample_index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_run, "QuestionEngine", partial(QuestionEngine, opening=wild.OPENING))
    questions, out = tmp_path / "questions.jsonl", tmp_path / "out.jsonl"
    asked = ["hello", "regex", *(f"hello {n}" for n in range(20))]
    questions.write_text("".join(json.dumps({"qid": what, "question": what}) + "\n" for what in asked))
    settings = ["encoder.model=hash", "bulk.question_seconds=0.5"]
    code = answer(str(questions), sample_index, str(out), set_=settings, workers=0)
    assert code == 1
    predictions = {line["qid"]: line for line in map(json.loads, out.read_text().splitlines())}
    assert list(predictions) == asked
    assert "not answered after 0.5 s" in predictions.pop("regex")["error"]
    assert {line["status"] for line in predictions.values()} == {"answered"}

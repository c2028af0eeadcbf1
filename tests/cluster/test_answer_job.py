"""Bulk answering on Ray: the same predictions as in this process, whatever dies during the run."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray

from finray.batch.prediction_store import read_predictions
from finray.batch.predictions import decode, encode
from finray.batch.question_files import read_questions
from finray.cluster.answer_job import AnswerPool
from finray.core.errors import IndexMissingError, SourceError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.engine import Engine
from tests.cluster.nodes import cluster_of_nodes
from tests.engines import wild
from tests.weightless import VARIABLES
from tools.faults.processes import descendants

JOB = Path(__file__).parents[2] / "jobs" / "answer.py"

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]


@pytest.fixture(scope="session")
def questions(sample_folder: Path, local_settings: Settings) -> list[Question]:
    lines = read_questions(str(sample_folder / "questions.jsonl"), max_characters=8_000)
    return [line for line in lines if isinstance(line, Question)][:60]


@pytest.fixture(scope="session")
def expected(engine: Engine, questions: list[Question]) -> list[Prediction]:
    """The answers of the engine in this process."""
    return [untimed(asyncio.run(engine.answer(question))) for question in questions]


def untimed(prediction: Prediction) -> Prediction:
    return replace(prediction, seconds=0.0)


def answer_all(pool: AnswerPool, questions: Sequence[Question], on_answer: Any = None) -> list[Prediction]:
    """Asks all questions concurrently; calls ``on_answer`` after each with the number of answers so far."""

    async def run() -> list[Prediction]:
        done = 0

        async def one(question: Question) -> Prediction:
            nonlocal done
            prediction = await pool.answer(question)
            done += 1
            if on_answer:
                on_answer(done)
            return prediction

        return await asyncio.gather(*(one(question) for question in questions))

    return [untimed(prediction) for prediction in asyncio.run(run())]


def test_a_pool_gives_the_engine_answers_and_survives_the_loss_of_a_worker(
    local_ray: None,
    sample_index: str,
    local_settings: Settings,
    questions: list[Question],
    expected: list[Prediction],
) -> None:
    killed = []

    def kill(done: int) -> None:
        if done == 5:
            killed.extend(descendants("ray::AnswerWorker")[:1])
            for process in killed:
                process.kill()

    with closing(AnswerPool(sample_index, local_settings, 2)) as pool:
        pool.wait_until_ready()
        assert answer_all(pool, questions) == expected
        assert answer_all(pool, questions, kill) == expected
    assert killed


def test_a_question_that_crashes_its_engine_fails_alone(
    local_ray: None, local_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "of the driver")
    bulk = local_settings.bulk.model_copy(update={"question_seconds": 2.0})
    settings = local_settings.model_copy(update={"bulk": bulk})
    breaks = {
        "bug": "KeyError: 'fiscal_year'",
        "die": "EngineLostError: each process that worked on it ended (exit status 3)",
        "regex": "QuestionTimeoutError: not answered after 2 s (bulk.question_seconds",
        "loop": "QuestionTimeoutError: not answered after 2 s (bulk.question_seconds",
    }
    asked = [Question(f"q{n}", "env AWS_PROFILE") for n in range(20)]
    for place, what in enumerate(breaks):
        asked.insert(5 * place, Question(what, what))
    with closing(AnswerPool(str(tmp_path), settings, 2, opening=wild.OPENING)) as pool:
        predictions = {prediction.qid: prediction for prediction in answer_all(pool, asked)}
    assert list(predictions) == [question.qid for question in asked]
    for what, reason in breaks.items():
        broken = predictions.pop(what)
        assert broken.status == "error"
        assert str(broken.error).startswith(reason)
        assert broken.settings_hash == local_settings.answer_hash()
    assert {(p.status, p.answer) for p in predictions.values()} == {("answered", "of the driver")}


def test_two_workers_share_few_hard_questions(local_ray: None, local_settings: Settings, tmp_path: Path) -> None:
    # Fewer than bulk.concurrency, and dealt out in turns one worker would have all the hard ones.
    asked = [Question(f"q{n}", "sleep 0.01" if n % 2 else "sleep 1") for n in range(12)]
    with closing(AnswerPool(str(tmp_path), local_settings, 2, opening=wild.OPENING)) as pool:
        ray.get([opened for _, opened in pool._new])
        predictions = answer_all(pool, asked)
        # The third is handed to who works on the first, and taken over by who is done with the second. That may start
        # late on a busy machine, so the first takes long.
        few = [Question(f"few{n}", f"sleep {seconds}") for n, seconds in enumerate((6, 0.5, 0.2, 0.01))]
        first, second, third, _ = (prediction.answer for prediction in answer_all(pool, few))
        assert first != second == third
    did = Counter(p.answer for p, q in zip(predictions, asked, strict=True) if q.question == "sleep 1")
    assert sorted(did.values()) == [3, 3]


@pytest.mark.slow
def test_a_question_that_kills_each_worker_is_an_error_and_the_others_are_answered(
    local_ray: None, local_settings: Settings, tmp_path: Path
) -> None:
    asked = [Question(name, name) for name in ("q1", "q2", "die parent", *(f"q{n}" for n in range(3, 20)))]
    with closing(AnswerPool(str(tmp_path), local_settings, 2, opening=wild.OPENING)) as pool:
        predictions = {prediction.qid: prediction for prediction in answer_all(pool, asked)}
    broken = predictions.pop("die parent")
    assert broken.status == "error"
    assert "the worker died while it answered, 4 times" in str(broken.error)
    assert {prediction.status for prediction in predictions.values()} == {"answered"}


@pytest.mark.slow
def test_a_failing_cluster_is_an_error_of_the_run_not_of_a_question(
    local_ray: None, local_settings: Settings, tmp_path: Path
) -> None:
    """No worker starts any more after the index is deleted."""
    index = tmp_path / "index"
    index.mkdir()
    with (
        closing(AnswerPool(str(index), local_settings, 1, opening=wild.OPENING)) as pool,
        pytest.raises(IndexMissingError, match="there is no index"),
    ):
        pool.wait_until_ready()
        index.rmdir()
        answer_all(pool, [Question("q", "die parent")])


def test_the_pool_raises_the_error_for_a_missing_index(
    local_ray: None, local_settings: Settings, tmp_path: Path
) -> None:
    with (
        closing(AnswerPool(str(tmp_path / "nowhere"), local_settings, 1)) as pool,
        pytest.raises(IndexMissingError, match="nowhere") as raised,
    ):
        pool.wait_until_ready()
    assert "Traceback" not in str(raised.value)


def command(questions: Path, index: str, out: Path, **options: Any) -> subprocess.Popen[str]:
    line = [sys.executable, str(JOB), str(questions), "--index", index, "--out", str(out)]
    return subprocess.Popen(
        [*line, "--workers", "2"],
        env=os.environ | {**VARIABLES, "FINRAY_BULK__FLUSH_SECONDS": "0.1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_the_command_reports_a_missing_index_in_one_line(sample_folder: Path, tmp_path: Path) -> None:
    with command(sample_folder / "questions.jsonl", str(tmp_path / "nowhere"), tmp_path / "out.jsonl") as process:
        out, err = process.communicate()
    assert process.returncode == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("error: ")
    assert "nowhere" in err


@pytest.mark.slow
@pytest.mark.long
def test_a_killed_driver_resumes_to_the_same_predictions(
    sample_folder: Path, sample_index: str, tmp_path: Path, local_settings: Settings, engine: Engine
) -> None:
    questions, out = sample_folder / "questions.jsonl", tmp_path / "out.jsonl"
    with command(questions, sample_index, out, start_new_session=True) as killed:
        deadline = time.monotonic() + 200
        while killed.poll() is None and stored(out) < 20 and time.monotonic() < deadline:
            time.sleep(0.05)
        killed.send_signal(signal.SIGKILL)
        err = killed.communicate()[1]
    assert killed.returncode == -signal.SIGKILL, err
    before = stored(out)
    with command(questions, sample_index, out) as resumed:
        summary, err = resumed.communicate()
    assert resumed.returncode == 0, err
    asked = [q for q in read_questions(str(questions), max_characters=8_000) if isinstance(q, Question)]
    total = len(asked)
    assert 20 <= before < total
    assert f"({before} from an earlier run)" in summary
    assert f"answering: {total - before} of {total - before}" in err
    assert "questions/s" in summary
    assert "latency p50" in summary
    predictions = read_predictions(str(out))
    assert predictions.remarks == ()
    # Stored and read once, as the others were: a file holds less of a filing than an engine does.
    undisturbed = [decode(encode(asyncio.run(engine.answer(question)))) for question in asked]
    assert [untimed(p) for p in predictions.predictions] == [untimed(p) for p in undisturbed]


def stored(out: Path) -> int:
    """The number of completely written predictions on disk."""
    try:
        return len(read_predictions(str(out)).predictions)
    except SourceError:
        return 0


@pytest.mark.slow
def test_a_lost_node_does_not_change_the_answers(
    sample_index: str,
    local_settings: Settings,
    questions: list[Question],
    expected: list[Prediction],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost: list[Any] = []
    with cluster_of_nodes(monkeypatch, notices_loss=True, num_cpus=1) as cluster:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]

        def lose_a_node(done: int) -> None:
            if done >= 5 and not lost:
                lost.append(nodes[0])
                cluster.remove_node(nodes[0], allow_graceful=False)

        # One worker for each node: the replacement of the lost one finds no room, and must not be waited for.
        with closing(AnswerPool(sample_index, local_settings)) as pool:
            while ray.available_resources().get("CPU", 0) > 0:  # type: ignore[no-untyped-call]
                time.sleep(0.1)
            assert answer_all(pool, questions, lose_a_node) == expected
    assert lost

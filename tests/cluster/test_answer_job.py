"""Bulk answering on Ray: the same predictions as in this process, whatever dies on the way."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray

from finray.batch.prediction_store import read_predictions
from finray.batch.predictions import decode, encode
from finray.batch.question_files import read_questions
from finray.cluster.answer_job import AnswerPool, Opener
from finray.cluster.runtime import ClusterError, ray_cluster
from finray.core.errors import IndexMissingError, SourceError
from finray.core.settings import Settings
from finray.core.types import Prediction, Question
from finray.engine import Engine
from tools.faults.processes import descendants

JOB = Path(__file__).parents[2] / "jobs" / "answer.py"

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def local_ray() -> Iterator[None]:
    with ray_cluster(num_cpus=2):
        yield


@pytest.fixture(scope="session")
def questions(sample_folder: Path, local_settings: Settings) -> list[Question]:
    lines = read_questions(str(sample_folder / "questions.jsonl"), max_characters=8_000)
    return [line for line in lines if isinstance(line, Question)][:60]


@pytest.fixture(scope="session")
def expected(engine: Engine, questions: list[Question]) -> list[Prediction]:
    """What the engine answers in this process."""
    return [untimed(asyncio.run(engine.answer(question))) for question in questions]


def untimed(prediction: Prediction) -> Prediction:
    return replace(prediction, seconds=0.0)


def answer_all(pool: AnswerPool, questions: Sequence[Question], on_answer: Any = None) -> list[Prediction]:
    """All at once; ``on_answer`` is called after each with the number of answers so far."""

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


def test_a_pool_answers_as_the_engine_does_and_losing_a_worker_costs_no_answer(
    local_ray: None,
    sample_index: str,
    local_settings: Settings,
    questions: list[Question],
    expected: list[Prediction],
) -> None:
    killed = []

    def kill(done: int) -> None:
        if done == 5:
            killed.extend(descendants("ray::_Worker")[:1])
            for process in killed:
                process.kill()

    with closing(AnswerPool(sample_index, local_settings, 2)) as pool:
        pool.wait_until_ready()
        assert answer_all(pool, questions) == expected
        assert answer_all(pool, questions, kill) == expected
    assert killed


def wild_opener() -> Opener:
    """An engine that has a bug, and one question that kills it. Defined inside, so that Ray carries it by value."""

    def wild(index_uri: str, settings: Settings) -> Any:
        import os

        from finray.core.types import Prediction

        class Wild:
            async def answer(self, question: Any) -> Any:
                if question.qid == "bug":
                    raise KeyError("fiscal_year")
                if question.qid == "killer":
                    os._exit(1)
                return Prediction(question.qid, question.question, os.environ["AWS_PROFILE"], "answered")

        return Wild()

    return wild


@pytest.mark.parametrize(
    ("qid", "reason"),
    [
        ("bug", "KeyError: 'fiscal_year'"),
        pytest.param("killer", "the worker died while it answered, 4 times", marks=pytest.mark.slow),
    ],
)
def test_a_question_that_breaks_a_worker_costs_itself_alone(
    local_ray: None, local_settings: Settings, monkeypatch: pytest.MonkeyPatch, qid: str, reason: str
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "of the driver")
    asked = [Question(name, "?") for name in ("q1", "q2", qid, *(f"q{n}" for n in range(3, 20)))]
    with closing(AnswerPool("nowhere", local_settings, 2, opener=wild_opener())) as pool:
        predictions = {prediction.qid: prediction for prediction in answer_all(pool, asked)}
    assert list(predictions) == [question.qid for question in asked]
    broken = predictions.pop(qid)
    assert broken.status == "error"
    assert reason in str(broken.error)
    assert broken.settings_hash == local_settings.answer_hash()
    assert {(p.status, p.answer) for p in predictions.values()} == {("answered", "of the driver")}


def failing_opener(opened: str) -> Opener:
    """The first two engines come up and die of their question; after that none comes up."""

    def fail(index_uri: str, settings: Settings) -> Any:
        import os
        from pathlib import Path

        class Killed:
            async def answer(self, question: Any) -> Any:
                os._exit(1)

        with Path(opened).open("a") as file:
            file.write("x")
        if Path(opened).stat().st_size > 2:
            os._exit(1)
        return Killed()

    return fail


@pytest.mark.slow
def test_a_cluster_that_fails_is_not_the_fault_of_a_question(
    local_ray: None, local_settings: Settings, tmp_path: Path
) -> None:
    opener = failing_opener(str(tmp_path / "opened"))
    with (
        closing(AnswerPool("nowhere", local_settings, 1, opener=opener)) as pool,
        pytest.raises(ClusterError, match="could not open"),
    ):
        answer_all(pool, [Question("q", "?")])


def test_a_missing_index_is_what_the_pool_says_is_missing(
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
        env=os.environ | {"FINRAY_ENCODER__MODEL": "hash", "FINRAY_BULK__FLUSH_SECONDS": "0.1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_the_command_says_a_missing_index_in_one_line(sample_folder: Path, tmp_path: Path) -> None:
    with command(sample_folder / "questions.jsonl", str(tmp_path / "nowhere"), tmp_path / "out.jsonl") as process:
        out, err = process.communicate()
    assert process.returncode == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("error: ")
    assert "nowhere" in err


@pytest.mark.slow
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
    """Predictions on disk that were written whole."""
    try:
        return len(read_predictions(str(out)).predictions)
    except SourceError:
        return 0


@pytest.mark.slow
def test_a_lost_node_costs_no_answer(
    sample_index: str,
    local_settings: Settings,
    questions: list[Question],
    expected: list[Prediction],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ray.cluster_utils import Cluster

    if ray.is_initialized():
        ray.shutdown()
    for name in ("period_ms", "timeout_ms", "initial_delay_ms"):
        monkeypatch.setenv(f"RAY_health_check_{name}", "1000")
    monkeypatch.setenv("RAY_health_check_failure_threshold", "3")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    lost: list[Any] = []

    def lose_a_node(done: int) -> None:
        if done >= 5 and not lost:
            lost.append(nodes[0])
            cluster.remove_node(nodes[0], allow_graceful=False)

    try:
        ray.init(address=cluster.address, log_to_driver=False)
        # One worker for each node: what replaces the lost one finds no room, and must not be waited for.
        with closing(AnswerPool(sample_index, local_settings)) as pool:
            while ray.available_resources().get("CPU", 0) > 0:  # type: ignore[no-untyped-call]
                time.sleep(0.1)
            assert answer_all(pool, questions, lose_a_node) == expected
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]
    assert lost

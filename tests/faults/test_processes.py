"""kill -9 of what a job runs on: its own Ray, the node of a cluster, the head. Killed drivers, workers and whole nodes
are in tests/cluster and tests/edgar; what a submitted job loses in tests/jobs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from finray.batch.driver import answer_all
from finray.batch.prediction_store import PredictionStore, read_predictions
from finray.batch.question_files import read_questions
from finray.core.predictions import Prediction
from finray.core.settings import load_settings
from finray.engine import open_engine
from finray.index.job.in_process import index_in_process
from finray.index.upkeep.check import check_index
from finray.lab.sample.edgar import sample_submissions, write_edgar
from finray.lab.sample.generate import generate_sample
from tests.weightless import VARIABLES
from tools.faults.contents import Contents, differences, read_contents
from tools.faults.edgar import Fault, LocalEdgar
from tools.faults.processes import (
    Kind,
    Running,
    after,
    filings_committed,
    filings_fetched,
    predictions_stored,
    start,
)
from tools.faults.ray_cluster import cluster

# Serial: nodes die, and Ray declares others dead that get no processor for seconds.
pytestmark = [pytest.mark.slow, pytest.mark.serial, pytest.mark.ray, pytest.mark.timeout(600)]

ENVIRONMENT = {
    **VARIABLES,
    "FINRAY_INDEX__IN_PROCESS": "false",
    "FINRAY_INDEX__WRITE_ROWS": "20",
    "FINRAY_BULK__FLUSH_SECONDS": "0.1",
    "FINRAY_BULK__CONCURRENCY": "1",
    "FINRAY_EDGAR__CONTACT": "Finray Faults filings@finray.test",
    "FINRAY_EDGAR__REQUESTS_PER_SECOND": "500",
    "FINRAY_EDGAR__CONNECTIONS": "1",
    "FINRAY_EDGAR__RETRY_WAIT_S": "0.01",
}
GONE = "is gone, so this job ends. What was stored stays:"


@dataclass(frozen=True)
class World:
    """``index`` has the contents for ``filings``, ``answers`` the answers to ``questions``, from an undisturbed run."""

    filings: str
    questions: str
    index: str
    contents: Contents
    answers: list[Prediction]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    generate_sample(folder, companies=2, years=2, seed=5, questions=120, formats=("html",), workers=1)
    settings = load_settings(environment=ENVIRONMENT)
    filings, questions, index = (str(folder / name) for name in ("filings", "questions.jsonl", "index"))
    index_in_process([filings], index, settings)
    engine = open_engine(index, settings)
    with PredictionStore(str(folder / "answers.jsonl")) as store:
        asyncio.run(answer_all(list(read_questions(questions)), engine.answer, store, settings))
    return World(filings, questions, index, read_contents(index), predictions(folder / "answers.jsonl"))


def predictions(path: Path) -> list[Prediction]:
    return [replace(prediction, seconds=0.0) for prediction in read_predictions(str(path)).predictions]


def assert_same_answers(found: list[Prediction], expected: list[Prediction]) -> None:
    assert [one.qid for one in found] == [one.qid for one in expected]
    differences = [
        (wanted.qid, name, getattr(wanted, name), getattr(got, name))
        for wanted, got in zip(expected, found, strict=True)
        for name in (one.name for one in fields(Prediction))
        if getattr(wanted, name) != getattr(got, name)
    ]
    assert not differences, "\n".join(map(str, differences))


def index_command(world: World, target: Path) -> tuple[str, ...]:
    return "jobs/index.py", world.filings, "--index", str(target), "--json"


def answer_command(world: World, target: Path) -> tuple[str, ...]:
    command = "jobs/answer.py", world.questions, "--index", world.index, "--out", str(target)
    return *command, "--workers", "1", "--json"


def assert_said_once(job: Running, timeout_s: float, codes: tuple[int, ...] = (2,)) -> None:
    """The job ends in time, with one line that gives the reason and the fix. Progress output may follow it."""
    assert job.wait(timeout_s).exit_code in codes, job.said()
    nothing_left(job)
    ended = job.wait(0.0)
    errors = [line for line in ended.err.splitlines() if line.startswith("error: ")]  # Ray has its own, in its logs
    assert len(errors) == 1, ended.err
    assert GONE in errors[0]
    assert "Traceback" not in ended.err
    assert ended.out == ""


def assert_index_is_whole(target: Path, world: World) -> None:
    assert differences(world.contents, read_contents(str(target))) == []
    assert check_index(str(target), deep=True) == []


@pytest.mark.parametrize(("kind", "filings"), [pytest.param("raylet", 1, marks=pytest.mark.long), ("gcs", 4)])
def test_an_index_job_reports_the_death_of_its_ray_and_the_next_run_completes(
    kind: Kind, filings: int, world: World, tmp_path: Path
) -> None:
    target = tmp_path / "index"
    with start(*index_command(world, target), environment=ENVIRONMENT) as job:
        assert job.wait_until(lambda: filings_committed(str(target)) >= filings)
        assert job.kill(kind, random.Random(filings))
        assert_said_once(job, 40.0, (1, 2) if kind == "raylet" else (2,))
    with start(*index_command(world, target), environment=ENVIRONMENT) as again:
        assert again.wait(200.0).exit_code == 0
    assert_index_is_whole(target, world)


def nothing_left(job: Running) -> None:
    """What Ray started ends with the job; otherwise each night's leftovers would fill the machine."""
    due = after(30.0)
    while job.processes():
        assert not due(), job.processes()


@pytest.fixture
def edgar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEdgar]:
    write_edgar(tmp_path / "edgar", sample_submissions(companies=2, years=1, seed=3))
    server = LocalEdgar(tmp_path / "edgar")
    address = server.start()
    for name in ("EDGAR_BASE_URL", "EDGAR_DATA_URL"):
        monkeypatch.setenv(name, address)
    monkeypatch.setenv("EDGAR_LOCAL_DATA_DIR", str(tmp_path / "edgartools"))
    yield server
    server.stop()


def sync_command(raw: Path) -> tuple[str, ...]:
    return "jobs/sync_edgar.py", "--raw", str(raw), "--since", "2023-01-02", "--until", "2024-03-20", "--json"


def stored(raw: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (raw / "filings").rglob("*.txt")}


@pytest.mark.long
def test_three_jobs_survive_a_lost_node_and_report_a_lost_head(world: World, edgar: LocalEdgar, tmp_path: Path) -> None:
    raw, index, out = tmp_path / "raw", tmp_path / "index", tmp_path / "out" / "predictions.jsonl"
    commands = [sync_command(raw), index_command(world, index), answer_command(world, out)]
    counts: list[Callable[[], int]] = [
        lambda: filings_fetched(str(raw)),
        lambda: filings_committed(str(index)),
        lambda: predictions_stored(str(out)),
    ]
    slow = [Fault(piece_seconds=0.02)] * 3
    for path in (tmp_path / "edgar" / "Archives").rglob("*.txt"):
        edgar.fail(str(path.relative_to(tmp_path / "edgar" / "Archives")), *slow)

    def until_all_have(jobs: list[Running], done: list[int]) -> None:
        for job, count, least in zip(jobs, counts, done, strict=True):
            job.wait_until(lambda count=count, least=least: count() >= least, 200.0)  # type: ignore[misc]

    with cluster(nodes=1, cpus=2) as ray, ExitStack() as stack:
        on_cluster = ENVIRONMENT | {"RAY_ADDRESS": ray.address}
        jobs = [stack.enter_context(start(*command, environment=on_cluster)) for command in commands]
        until_all_have(jobs, [1, 1, 1])
        assert ray.nodes[0].kill("raylet")
        until_all_have(jobs, [count() + 1 for count in counts])
        working = [job for job in jobs if not job.ended]
        assert working
        assert ray.head.kill("gcs")
        lost = [job for job in jobs if job.wait(60.0).exit_code != 0]
        assert lost
        assert set(lost) <= set(working)  # one may have ended well in this very moment
        for job in lost:
            assert_said_once(job, 1.0, (1, 2))

    edgar.faults.clear()
    again = ENVIRONMENT | {"FINRAY_INDEX__IN_PROCESS": "true"}
    for command in commands:
        options = ("--workers", "0") if command[0] == "jobs/answer.py" else ()
        with start(*command, *options, environment=again) as job:
            assert job.wait(200.0).exit_code == 0
    assert len(stored(raw)) == len(list((tmp_path / "edgar" / "Archives" / "edgar" / "data").rglob("*.txt")))
    assert_index_is_whole(index, world)
    assert_same_answers(predictions(out), world.answers)

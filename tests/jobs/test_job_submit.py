"""``ray job submit`` of every job on a cluster of its own, with filings, index, questions and predictions on S3."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest
from ray._private.runtime_env.packaging import create_package

from finray.batch.driver import answer_all
from finray.batch.prediction_store import PredictionStore, read_predictions
from finray.batch.question_files import read_questions
from finray.core.predictions import Prediction
from finray.core.settings import Settings
from finray.engine import open_engine
from finray.index.job.in_process import index_in_process
from finray.index.upkeep.check import check_index
from finray.lab.sample.edgar import sample_submissions, write_edgar
from finray.lab.sample.generate import generate_sample
from finray.storage.s3 import s3_filesystem
from tests.weightless import VARIABLES
from tools.faults.contents import differences, read_contents
from tools.faults.edgar import Fault, LocalEdgar
from tools.ports import free_port

REPOSITORY = Path(__file__).parents[2]
RAY = str(Path(sys.executable).with_name("ray"))
N_QUESTIONS = 30


def test_the_package_of_a_job_has_code_and_settings_only(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    carried = ["finray/presets/local.toml", "finray/cli.py", "jobs/answer.py", "mine.toml", "pyproject.toml"]
    left = [
        ".git/objects/1",
        ".venv/bin/python",
        ".venv-other/bin/python",
        "benchmarks/.venv-x/lib/a.so",
        "demo/filings/a.pdf",
        "my-index/chunks.lance/data/1",
        "my-filings/a.pdf",
        "predictions.jsonl",
        "finray/__pycache__/cli.pyc",
        "tests/jobs/test_x.py",
        "docs/index.md",
        "build/site/index.html",
        "mkdocs.yml",
    ]
    for name in (*carried, *left):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(name)
    for name in (".gitignore", ".rayignore"):
        shutil.copyfile(REPOSITORY / name, checkout / name)
    create_package(str(checkout), tmp_path / "package.zip", include_gitignore=True)
    with zipfile.ZipFile(tmp_path / "package.zip") as package:
        assert sorted(name for name in package.namelist() if not name.endswith("/")) == sorted(carried)


@dataclass(frozen=True)
class Jobs:
    """A cluster that knows nothing of S3 or of settings: both come with the job."""

    address: str
    head: psutil.Process
    environment: Mapping[str, str]
    """Of ``ray job submit``."""
    variables: Mapping[str, str]
    """Of every job."""

    def start(self, *command: str, variables: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """``ray job submit`` as the documentation shows it; it ends with the job, and prints what the job prints."""
        runtime_env = json.dumps({"env_vars": {**self.variables, **(variables or {})}})
        line = [RAY, "job", "submit", "--address", self.address, "--working-dir", "."]
        return subprocess.Popen(
            [*line, "--runtime-env-json", runtime_env, "--", "python", *command],
            cwd=REPOSITORY,
            env=dict(self.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def submit(self, *command: str, variables: Mapping[str, str] | None = None, expected_exit: int = 0) -> str:
        """Run a job to its end. Returns its output."""
        job = self.start(*command, variables=variables)
        said, _ = job.communicate(timeout=400)
        assert (job.returncode == 0) == (expected_exit == 0), said
        return said

    def driver_of(self, argument: str) -> psutil.Process:
        """The process of the job with this argument: a child of the cluster, not of ``ray job submit``."""
        for process in self.head.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                line = process.cmdline()
                if argument in line and Path(line[0]).name.startswith("python"):
                    return process
        raise AssertionError(f"no process with {argument}")


@pytest.fixture(scope="module")
def jobs(s3_variables: dict[str, str]) -> Iterator[Jobs]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "RAY_"))} | {
        # The job's `python` is the first on the PATH of the head node.
        "PATH": f"{Path(RAY).parent}{os.pathsep}{os.environ['PATH']}",
        "RAY_AUTH_MODE": "disabled",
    }
    # Short, because sockets lie in it, and their paths may have 107 characters.
    folder, dashboard = tempfile.mkdtemp(prefix="fr-", dir="/tmp"), free_port()

    start = [
        RAY, "start", "--head", "--block", "--num-cpus=2", "--object-store-memory=300000000", "--disable-usage-stats",
        f"--port={free_port()}", "--dashboard-host=127.0.0.1", f"--dashboard-port={dashboard}",
        f"--temp-dir={folder}", f"--ray-client-server-port={free_port()}",
        f"--dashboard-agent-listen-port={free_port()}",
    ]  # fmt: skip
    log = Path(folder) / "ray-start.log"
    with log.open("wb") as output:
        head = subprocess.Popen(start, env=environment, start_new_session=True, stdout=output, stderr=output)
    try:
        wait_for_jobs(f"http://127.0.0.1:{dashboard}/api/jobs/", head, log)
        yield Jobs(
            f"http://127.0.0.1:{dashboard}",
            psutil.Process(head.pid),
            environment,
            {**s3_variables, **VARIABLES},
        )
    finally:
        stop(head)
        shutil.rmtree(folder)


def wait_for_jobs(url: str, head: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        assert head.poll() is None, log.read_text()
        try:
            with urlopen(url, timeout=10):
                return
        except (URLError, ConnectionError, TimeoutError) as error:
            assert time.monotonic() < deadline, f"no job server: {error}"
            time.sleep(1)


def stop(head: subprocess.Popen[bytes]) -> None:
    """End this cluster and no other."""
    if head.poll() is not None:
        return
    mine = [psutil.Process(head.pid), *psutil.Process(head.pid).children(recursive=True)]
    head.send_signal(signal.SIGTERM)
    _, alive = psutil.wait_procs(mine, timeout=10)
    for process in alive:
        with suppress(psutil.NoSuchProcess):  # it ended meanwhile
            process.kill()
    psutil.wait_procs(alive, timeout=20)
    head.wait()


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_jobs_on_a_cluster_and_s3_give_the_result_of_a_local_run(
    jobs: Jobs, s3: str, local_settings: Settings, tmp_path: Path
) -> None:
    submit = jobs.submit
    summary = generate_sample(tmp_path / "sample", companies=2, years=2, seed=11, questions=N_QUESTIONS, workers=1)
    source, questions = f"{s3}/filings", f"{s3}/questions.jsonl"
    s3_filesystem().put(f"{tmp_path}/sample/filings/", f"{source}/", recursive=True)
    s3_filesystem().put(f"{tmp_path}/sample/questions.jsonl", questions)
    index_uri, out = f"{s3}/index", f"{s3}/predictions.jsonl"

    indexed = submit("jobs/index.py", source, "--index", index_uri)
    assert f"{summary.n_filings} indexed" in indexed
    answered = submit("jobs/answer.py", questions, "--index", index_uri, "--out", out)
    assert f"{N_QUESTIONS} questions: " in answered
    assert "0 errors (0 from an earlier run)" in answered
    again = submit("jobs/answer.py", questions, "--index", index_uri, "--out", out)
    assert f"({N_QUESTIONS} from an earlier run)" in again
    scores = submit("jobs/evaluate.py", out, questions)
    missing = submit("jobs/answer.py", questions, "--index", f"{s3}/no", "--out", f"{out}.jsonl", expected_exit=2)
    assert f"there is no index at '{s3}/no'" in missing
    assert "Traceback (most recent call last)" not in missing.partition("there is no index")[2]

    index_in_process([source], str(tmp_path / "index"), local_settings)
    local = tmp_path / "predictions.jsonl"
    engine = open_engine(str(tmp_path / "index"), local_settings)
    with PredictionStore(str(local)) as store:
        asyncio.run(answer_all(list(read_questions(questions)), engine.answer, store, local_settings))
    assert predictions(out) == predictions(str(local))
    assert "recall" in scores


def predictions(uri: str) -> list[Prediction]:
    return [replace(prediction, seconds=0.0) for prediction in read_predictions(uri).predictions]


PER_SECOND = 20


@pytest.fixture
def edgar(tmp_path: Path) -> Iterator[tuple[LocalEdgar, dict[str, str]]]:
    """EDGAR, which refuses more than one and a half times the pace of one job; and what a job must be told of it."""
    write_edgar(tmp_path / "edgar", sample_submissions(companies=2, years=1, seed=3))
    server = LocalEdgar(tmp_path / "edgar", per_second=PER_SECOND * 1.5)
    address = server.start()
    yield (
        server,
        {
            "EDGAR_BASE_URL": address,
            "EDGAR_DATA_URL": address,
            "EDGAR_LOCAL_DATA_DIR": str(tmp_path / "edgartools"),
            "FINRAY_EDGAR__CONTACT": "Finray Tests filings@finray.test",
            "FINRAY_EDGAR__REQUESTS_PER_SECOND": str(PER_SECOND),
            "FINRAY_EDGAR__BLOCKED_PAUSE_S": "0.5",
        },
    )
    server.stop()


def summary_of(output: str) -> dict[str, Any]:
    """The job's JSON among what ``ray job submit`` prints."""
    line = next(line for line in output.splitlines() if line.startswith('{"'))
    summary: dict[str, Any] = json.loads(line)
    return summary


def stored(raw: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (raw / "filings").rglob("*.txt")}


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
def test_two_syncs_share_one_pace_and_a_killed_one_continues_when_resubmitted(
    jobs: Jobs, edgar: tuple[LocalEdgar, dict[str, str]], local_settings: Settings, tmp_path: Path
) -> None:
    server, variables = edgar
    one, two, third, index = (tmp_path / name for name in ("one", "two", "third", "index"))
    times = ("--since", "2023-01-02", "--until", "2024-03-20", "--json")

    refused = jobs.submit("jobs/sync_edgar.py", "--raw", str(one), *times, expected_exit=2)
    assert "FINRAY_EDGAR__CONTACT" in refused
    assert not server.requests

    both = [("jobs/sync_edgar.py", "--raw", str(raw), *times) for raw in (one, two)]
    with ThreadPoolExecutor(2) as at_once:
        for said in at_once.map(lambda command: jobs.submit(*command, variables=variables), both):
            summary = summary_of(said)
            assert (summary["pauses"], summary["failed"], summary["problems"]) == (0, [], [])
    assert {request.agent for request in server.requests} == {variables["FINRAY_EDGAR__CONTACT"]}
    assert stored(one) == stored(two)
    assert stored(one)

    for path in sorted((tmp_path / "edgar" / "Archives" / "edgar" / "data").rglob("*.txt")):
        server.fail(str(path.relative_to(tmp_path / "edgar" / "Archives")), Fault(piece_seconds=0.02))
    command = ("jobs/sync_edgar.py", "--raw", str(third), "--index", str(index), *times)
    job = jobs.start(*command, variables=variables)
    deadline = time.monotonic() + 200
    while len(stored(third)) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    jobs.driver_of(str(third)).kill()
    job.communicate(timeout=100)
    assert job.returncode != 0
    assert 0 < len(stored(third)) < len(stored(one))
    server.faults.clear()
    jobs.submit(*command, variables=variables)
    assert stored(third) == stored(one)
    index_in_process([str(one / "filings")], str(tmp_path / "expected"), local_settings)
    assert differences(read_contents(str(tmp_path / "expected")), read_contents(str(index))) == []
    assert check_index(str(index), deep=True) == []

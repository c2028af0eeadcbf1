"""``ray job submit`` of every job on a cluster of its own, with filings, index, questions and predictions on S3."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest
from moto.server import ThreadedMotoServer
from ray._private.runtime_env.packaging import create_package

from finray.bulk import answer_all
from finray.engine import open_engine
from finray.index.in_process import index_in_process
from finray.prediction_store import PredictionStore, read_predictions
from finray.questions import read_questions
from finray.sample.generate import generate_sample
from finray.settings import Settings
from finray.storage import s3_filesystem
from finray.types import Prediction

REPOSITORY = Path(__file__).parents[2]
RAY = str(Path(sys.executable).with_name("ray"))
BUCKET = "s3://finray-jobs"
N_QUESTIONS = 30

Submit = Callable[..., str]


def test_a_job_carries_the_code_and_settings_files_and_nothing_that_lies_about(tmp_path: Path) -> None:
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
    ]
    for name in (*carried, *left):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(name)
    for name in (".gitignore", ".rayignore"):
        shutil.copyfile(REPOSITORY / name, checkout / name)
    create_package(str(checkout), tmp_path / "package.zip", include_gitignore=True)
    with zipfile.ZipFile(tmp_path / "package.zip") as package:
        assert sorted(name for name in package.namelist() if not name.endswith("/")) == sorted(carried)


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    """The variables of an S3 server with a bucket; this process has them too."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    variables = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        s3_filesystem().mkdir(BUCKET)
        yield variables
    server.stop()


@pytest.fixture(scope="module")
def submit(s3: dict[str, str]) -> Iterator[Submit]:
    """Run a job on a cluster that knows nothing of S3 or of settings: both come with the job. Returns its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "RAY_"))} | {
        # The job's `python` is the first on the PATH of the head node.
        "PATH": f"{Path(RAY).parent}{os.pathsep}{os.environ['PATH']}",
        "RAY_AUTH_MODE": "disabled",
    }
    runtime_env = json.dumps({"env_vars": {**s3, "FINRAY_ENCODER__MODEL": "hash"}})
    # Short, because sockets lie in it, and their paths may have 107 characters.
    folder, dashboard = tempfile.mkdtemp(prefix="fr-", dir="/tmp"), free_port()

    def run(*command: str, expected_exit: int = 0) -> str:
        line = [RAY, "job", "submit", "--address", f"http://127.0.0.1:{dashboard}", "--working-dir", "."]
        done = subprocess.run(
            [*line, "--runtime-env-json", runtime_env, "--", "python", *command],
            cwd=REPOSITORY,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert (done.returncode == 0) == (expected_exit == 0), done.stdout + done.stderr
        return str(done.stdout)

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
        yield run
    finally:
        stop(head)
        shutil.rmtree(folder)


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
        process.kill()
    psutil.wait_procs(alive, timeout=20)
    head.wait()


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_jobs_on_a_cluster_and_s3_give_what_a_local_run_gives(
    submit: Submit, local_settings: Settings, tmp_path: Path
) -> None:
    summary = generate_sample(tmp_path / "sample", companies=2, years=2, seed=11, questions=N_QUESTIONS, workers=1)
    source, questions = f"{BUCKET}/filings", f"{BUCKET}/questions.jsonl"
    s3_filesystem().put(f"{tmp_path}/sample/filings/", f"{source}/", recursive=True)
    s3_filesystem().put(f"{tmp_path}/sample/questions.jsonl", questions)
    index_uri, out = f"{BUCKET}/index", f"{BUCKET}/predictions.jsonl"

    indexed = submit("jobs/index.py", source, "--index", index_uri)
    assert f"{summary.n_filings} indexed" in indexed
    answered = submit("jobs/answer.py", questions, "--index", index_uri, "--out", out)
    assert f"{N_QUESTIONS} questions: " in answered
    assert "0 errors (0 from an earlier run)" in answered
    again = submit("jobs/answer.py", questions, "--index", index_uri, "--out", out)
    assert f"({N_QUESTIONS} from an earlier run)" in again
    scores = submit("jobs/evaluate.py", out, questions)
    missing = submit("jobs/answer.py", questions, "--index", f"{BUCKET}/no", "--out", f"{out}.jsonl", expected_exit=2)
    assert "there is no index at 's3://finray-jobs/no'" in missing
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

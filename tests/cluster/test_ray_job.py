"""``ray job submit -- python jobs/index.py`` on a cluster of its own, with corpus and index on S3."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from finray.settings import Settings
from finray.storage import s3_filesystem

REPOSITORY = Path(__file__).parents[2]
RAY = Path(sys.executable).with_name("ray")

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def dashboard(s3: str) -> Iterator[str]:
    """The address of a head node's job server; the cluster inherits the S3 environment."""
    environment = os.environ | {
        "PATH": f"{RAY.parent}{os.pathsep}{os.environ['PATH']}",
        "RAY_AUTH_MODE": "disabled",
    }
    port = free_port()
    command = [
        str(RAY), "start", "--head", "--block", "--disable-usage-stats", "--num-cpus=2",
        "--object-store-memory=300000000", f"--port={free_port()}",
        "--dashboard-host=127.0.0.1", f"--dashboard-port={port}",
    ]  # fmt: skip
    head = subprocess.Popen(command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    for _ in range(120):
        try:
            with urlopen(f"{address}/api/version"):
                break
        except (URLError, ConnectionError):
            time.sleep(1)
    try:
        yield address
    finally:
        head.send_signal(signal.SIGTERM)
        head.wait()


def submit(dashboard: str, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"RAY_AUTH_MODE": "disabled"}
    environment.pop("RAY_ADDRESS", None)
    arguments = ["job", "submit", "--address", dashboard, "--working-dir", ".", "--", "env", *command]
    for _ in range(30):
        done = subprocess.run(
            [str(RAY), *arguments], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
        )
        if "No available agent to submit job" not in done.stderr:  # a head node that has just come up
            break
        time.sleep(2)
    return done


def test_the_index_job_runs_on_a_cluster_from_s3_to_s3(
    dashboard: str,
    s3: str,
    corpus: Path,
    settings: Settings,
    expected: dict[str, list[dict[str, Any]]],
    contents: Callable[[str], dict[str, list[dict[str, Any]]]],
) -> None:
    source, index_uri = f"{s3}/submitted/corpus", f"{s3}/submitted/index"
    s3_filesystem().put(f"{corpus}/", f"{source}/", recursive=True)
    command = (
        f"FINRAY_ENCODER__MODEL={settings.encoder.model}",
        "python", "jobs/index.py", source, "--index", index_uri,
    )  # fmt: skip
    first = submit(dashboard, *command)
    failed = len(expected["failures"])
    assert f"{len(expected['filings'])} indexed" in first.stdout, first.stdout + first.stderr
    assert f"{failed} failed" in first.stdout
    assert "exit code 1" in first.stdout + first.stderr  # done, with failures
    stored = contents(index_uri)
    for name in ("pages", "chunks", "facts"):
        assert stored[name] == expected[name]
    again = submit(dashboard, *command)
    assert f"0 indexed, {failed} failed before, {len(expected['filings'])} unchanged" in again.stdout
    assert again.returncode == 0, again.stdout + again.stderr

"""Starts Ray clusters of several nodes on this machine with ``ray start``, for fault tests."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from urllib.error import URLError
from urllib.request import urlopen

from tools.faults.processes import BIN, Running, StillRunningError, clean_environment
from tools.ports import free_port

_OBJECT_STORE_BYTES = 200_000_000
_QUICK = {
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_timeout_ms": "30000",
    "RAY_health_check_failure_threshold": "5",
}
"""Ray gives up a lost node in seconds instead of half a minute, because it refuses connections, but waits for a slow
one."""
_UP_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """``address`` is for RAY_ADDRESS, ``jobs`` for ``ray job submit --address``. Processes of a node are found and
    killed like those of any run: "raylet", "gcs" (on the head), "worker"."""

    head: Running
    nodes: tuple[Running, ...]
    address: str
    jobs: str


@contextmanager
def cluster(nodes: int = 0, *, cpus: int = 2, environment: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """A head with a job server and ``nodes`` other nodes, each with ``cpus`` logical CPUs, until the block ends.

    The cluster has no S3 credentials: each job brings its own.
    """
    variables = {
        **{name: value for name, value in clean_environment().items() if not name.startswith("AWS_")},
        **_QUICK,
        **(environment or {}),
    }
    # A job runs the first `python` on the PATH of the head node.
    variables["PATH"] = f"{BIN}:{variables['PATH']}"
    # A short path: it holds sockets, whose paths have at most 107 characters.
    folder = tempfile.mkdtemp(prefix="fr-", dir="/tmp")
    port, dashboard = free_port(), free_port()
    address, jobs = f"127.0.0.1:{port}", f"http://127.0.0.1:{dashboard}"
    common = [
        str(BIN / "ray"), "start", "--block", "--disable-usage-stats", f"--num-cpus={cpus}", "--min-worker-port=0",
        "--max-worker-port=0", f"--object-store-memory={_OBJECT_STORE_BYTES}", "--node-ip-address=127.0.0.1",
    ]  # fmt: skip
    head = [
        "--head", f"--port={port}", "--dashboard-host=127.0.0.1", f"--dashboard-port={dashboard}",
        f"--temp-dir={folder}", f"--ray-client-server-port={free_port()}",
    ]  # fmt: skip
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        first = stack.enter_context(Running([*common, *head, _agent()], variables))
        _wait_for(f"{jobs}/api/jobs/", first)
        others = [
            stack.enter_context(Running([*common, f"--address={address}", _agent()], variables)) for _ in range(nodes)
        ]
        for other in others:
            other.wait_until(lambda other=other: "Ray runtime started" in other.said(), _UP_SECONDS)  # type: ignore[misc]
        yield Cluster(first, tuple(others), address, jobs)


def _agent() -> str:
    return f"--dashboard-agent-listen-port={free_port()}"


def _wait_for(url: str, head: Running) -> None:
    deadline = time.monotonic() + _UP_SECONDS
    while True:
        if head.ended or time.monotonic() > deadline:
            raise StillRunningError(f"the cluster did not come up: {head.said()}")
        try:
            with urlopen(url, timeout=10):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)

"""``serve deploy`` and ``serve run`` on a running cluster."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest
import yaml

from finray.api.keys import add_key
from finray.client import Client, ServiceError
from tools.ports import free_port

# `serve run` has no option for the port: it listens on 8000.
pytestmark = [pytest.mark.slow, pytest.mark.serial, pytest.mark.ray, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ASKED = "What was the total revenue of CLDVC in FY2022?"
Until = Callable[..., None]


@dataclass
class Cluster:
    address: str
    dashboard: str
    environment: dict[str, str]


@pytest.fixture(scope="module")
def cluster(until: Until) -> Iterator[Cluster]:
    folder, gcs, dashboard = tempfile.mkdtemp(prefix="fr-", dir="/tmp"), free_port(), free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "OTEL_"))} | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    command = [str(BIN / "ray"), "start", "--head", "--block", "--num-cpus=4", "--object-store-memory=300000000"]
    command += [f"--port={gcs}", "--dashboard-host=127.0.0.1", f"--dashboard-port={dashboard}", f"--temp-dir={folder}"]
    command += [f"--ray-client-server-port={free_port()}", f"--dashboard-agent-listen-port={free_port()}"]
    command += ["--node-ip-address=127.0.0.1"]
    log = Path(folder) / "start.log"
    with log.open("wb") as output:
        head = subprocess.Popen(command, env=environment, start_new_session=True, stdout=output, stderr=output)
    try:
        until(lambda: replies(f"http://127.0.0.1:{dashboard}/api/version"), "the dashboard", 120)
        yield Cluster(f"127.0.0.1:{gcs}", f"http://127.0.0.1:{dashboard}", environment)
    finally:
        mine = [psutil.Process(head.pid), *psutil.Process(head.pid).children(recursive=True)]
        head.send_signal(signal.SIGTERM)
        for process in psutil.wait_procs(mine, timeout=15)[1]:
            with suppress(psutil.NoSuchProcess):  # it ended meanwhile
                process.kill()
        head.wait()
        shutil.rmtree(folder, ignore_errors=True)


def replies(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def test_the_configuration_file_deploys_and_the_application_runs_by_its_name(
    cluster: Cluster, sample_index: str, tmp_path: Path, until: Until
) -> None:
    http, keys = free_port(), str(tmp_path / "keys.json")
    text = add_key(keys, "ana")
    config = yaml.safe_load((ROOT / "infra" / "serve.yaml").read_text(encoding="utf-8"))
    config["http_options"] |= {"host": "127.0.0.1", "port": http}
    (application,) = config["applications"]
    small = {"num_cpus": 0.2, "max_replicas": 1}
    application["args"] |= {"index": sample_index, "ingress": small, "answering": small}
    application["args"]["set"] = {"serving.keys": keys, "encoder.model": "hash"}
    file = tmp_path / "serve.yaml"
    file.write_text(yaml.safe_dump(config))

    def serve(*arguments: str) -> None:
        done = subprocess.run(
            [str(BIN / "serve"), *arguments],
            cwd=tmp_path,
            env=cluster.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    url = f"http://127.0.0.1:{http}"
    serve("deploy", str(file), "--address", cluster.dashboard)
    until(lambda: replies(f"{url}/v1/readyz"), "the deployed service", 180)
    with Client(url, text) as client:
        assert client.answer(ASKED).status == "answered"
    with Client(url) as nobody, pytest.raises(ServiceError):
        nobody.answer(ASKED)

    # The same place, by the name of the application: it replaces what was deployed.
    environment = cluster.environment | {
        "RAY_ADDRESS": cluster.address,
        "FINRAY_SERVE_INDEX": sample_index,
        "FINRAY_ENCODER__MODEL": "hash",
    }
    serve("shutdown", "-y", "--address", cluster.dashboard)
    until(lambda: not replies(f"{url}/v1/readyz"), "the end of the deployed service")
    command = [str(BIN / "serve"), "run", "serve.app:app", "--runtime-env-json"]
    command += [f'{{"env_vars": {{"FINRAY_ENCODER__MODEL": "hash", "XDG_CONFIG_HOME": "{tmp_path}"}}}}']
    with (tmp_path / "run.log").open("wb") as output:
        running = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
    try:
        until(lambda: replies("http://127.0.0.1:8000/v1/readyz") or running.poll() is not None, "serve run", 180)
        assert running.poll() is None, (tmp_path / "run.log").read_text()
        refused = httpx.post("http://127.0.0.1:8000/v1/answer", json={"question": ASKED})
        assert refused.status_code == 401  # keys are on, and there are none yet
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(60)

"""``finray serve`` as a user runs it: one command, a local Ray, until Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from finray.api.keys import add_key, revoke_key
from finray.client import Client, ServiceError
from finray.core.settings import Settings
from finray.index.job.in_process import index_in_process
from tests.weightless import OPTIONS
from tools.faults.processes import descendants

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(400)]

ASKED = "What was the total revenue of CLDVC in FY2022?"
Until = Callable[..., None]


@dataclass
class Running:
    process: subprocess.Popen[str]
    url: str
    key: str
    config: Path
    lines: list[str]


@pytest.fixture
def serving(
    own_index: str, free_port: int, tmp_path: Path, until: Until, request: pytest.FixtureRequest
) -> Iterator[Running]:
    """``finray serve``, with additional options from the test's parameter."""
    command = [str(Path(sys.executable).with_name("finray")), "serve", "--index", own_index, "--port", str(free_port)]
    command += [*OPTIONS, "--set", "serving.watch_seconds=1", "--set", "serving.body_timeout_s=2"]
    command += getattr(request, "param", ())
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "OTEL_"))}
    environment |= {"XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "200"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=tmp_path
    )
    lines: list[str] = []
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    try:
        until(lambda: any("serving at" in line for line in lines) or process.poll() is not None, "serving", 180)
        assert process.poll() is None, "".join(lines)
        until(lambda: any("key for this run" in line for line in lines), "the key")
        key = re.search(r"frk_\w{12}_[\w-]{43}", "".join(lines))
        assert key is not None
        yield Running(process, f"http://127.0.0.1:{free_port}", key[0], tmp_path / "finray" / "keys.json", lines)
    finally:
        for child in [*psutil.Process(process.pid).children(recursive=True)] if process.poll() is None else []:
            child.kill()
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def half_a_request(url: str, key: str) -> bytes:
    """The reply until the service closes the connection."""
    address = urlsplit(url)
    assert address.hostname and address.port
    head = f"POST /v1/answer HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        connection.sendall(f'{head}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"'.encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


def _read(process: subprocess.Popen[str], lines: list[str]) -> None:
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.append(line)  # noqa: PERF402
    except ValueError:
        return  # closed at the end


def test_one_command_serves_until_it_is_interrupted(
    serving: Running, own_index: str, sample_folder: Path, local_settings: Settings, until: Until
) -> None:
    children = psutil.Process(serving.process.pid).children(recursive=True)
    with Client(serving.url, serving.key) as client:
        # An answer, whole and in events.
        prediction = client.answer(ASKED)
        assert prediction.status == "answered"
        assert [event.name for event in client.stream(ASKED)][-1] == "done"
        reply = httpx.get(f"{serving.url}/v1/healthz", headers={"X-Request-Id": "mine-1"})
        assert reply.headers.get_list("x-request-id") == ["mine-1"]
        assert httpx.get(f"{serving.url}/nothing").json()["error"]["code"] == "unknown_route"

        # Half a request ends: at once without a key, at the deadline with one.
        assert half_a_request(serving.url, "frk_wrong").startswith(b"HTTP/1.1 401")
        assert half_a_request(serving.url, serving.key).startswith(b"HTTP/1.1 408")

        # No key, no answer; a key that is added works, and stops working when it is revoked.
        with pytest.raises(ServiceError) as refused, Client(serving.url) as nobody:
            nobody.answer(ASKED)
        assert refused.value.status == 401
        added = Client(serving.url, add_key(str(serving.config), "ana"))
        until(lambda: _may(added), "the new key works")
        revoke_key(str(serving.config), "ana")
        until(lambda: not _may(added), "the revoked key is refused")
        added.close()

        # A new version of the index, without a restart.
        before = client.ready()
        sources = [str(path) for path in sorted((sample_folder / "filings").glob("*-2022-q2-10q*"))]
        index_in_process(sources, own_index, local_settings)
        until(lambda: bool(client.ready().filings > before.filings), "the new filings")

        # A disconnecting client ends the work: no request remains in progress.
        for event in client.stream(ASKED):
            if event.name == "stage":
                break
        metrics = {"Authorization": f"Bearer {serving.key}"}
        until(
            lambda: (
                _sample(httpx.get(f"{serving.url}/metrics", headers=metrics).text, "ray_finray_questions_total") > 0
            ),
            "metrics",
        )
        text = httpx.get(f"{serving.url}/metrics", headers=metrics).text
        for name in ("ray_finray_stage_seconds_count", "ray_finray_requests_total", "ray_finray_question_seconds_sum"):
            assert _sample(text, name) > 0, name

    asked = subprocess.run(
        [str(Path(sys.executable).with_name("finray")), "ask", ASKED, "--server", serving.url],
        env={**os.environ, "FINRAY_API_KEY": serving.key},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    assert prediction.answer in asked.stdout

    serving.process.send_signal(signal.SIGINT)
    assert serving.process.wait(90) == 0
    until(lambda: not any(child.is_running() for child in children), "everything that was started has ended", 60)
    assert not any("Traceback" in line for line in serving.lines)


@pytest.mark.parametrize("serving", [("--replicas", "1", "--set", "serving.max_in_flight=2")], indirect=True)
def test_separate_answering_replicas_refuse_past_capacity_and_are_replaced(serving: Running, until: Until) -> None:
    def replica() -> psutil.Process:
        (found,) = descendants("ServeReplica:finray:answering", serving.process.pid)
        return found

    def ask(_: int) -> int:
        headers = {"Authorization": f"Bearer {serving.key}"}
        reply = httpx.post(f"{serving.url}/v1/answer", json={"question": ASKED}, headers=headers, timeout=60)
        if reply.status_code == 429:
            assert reply.json()["error"]["code"] == "overloaded"
            assert int(reply.headers["Retry-After"]) >= 1
        return reply.status_code

    with ThreadPoolExecutor(12) as many:
        statuses = list(many.map(ask, range(60)))
    assert set(statuses) == {200, 429}

    before = replica()
    before.kill()
    with Client(serving.url, serving.key) as client:

        def answers() -> bool:
            try:
                return client.answer(ASKED).status == "answered"
            except ServiceError as error:
                assert error.status in (429, 503), error
                return False

        until(answers, "answers after the replica was killed")
    assert replica().pid != before.pid


WATCHED = ("--set", "serving.timeout_s=4", "--set", "serving.grace_s=1")


@pytest.mark.parametrize("serving", [WATCHED, (*WATCHED, "--replicas", "1")], indirect=True)
def test_a_hanging_engine_delays_no_other_request_and_ends_with_the_service(serving: Running, until: Until) -> None:
    def engine() -> psutil.Process:
        (found,) = descendants("finray.engines.child", serving.process.pid)
        return found

    def ask() -> int:
        headers = {"Authorization": f"Bearer {serving.key}"}
        return httpx.post(f"{serving.url}/v1/answer", json={"question": ASKED}, headers=headers, timeout=60).status_code

    with ThreadPoolExecutor(1) as asking:
        engine().suspend()
        hanging = asking.submit(ask)
        while not hanging.done():
            assert httpx.get(f"{serving.url}/healthz", timeout=2).status_code == 200
            time.sleep(0.2)
        assert hanging.result() == 504
        until(lambda: ask() == 200, "an answer by another engine")
        engine().suspend()
        asking.submit(ask)
        time.sleep(1)
        children = psutil.Process(serving.process.pid).children(recursive=True)
        serving.process.send_signal(signal.SIGTERM)
        assert serving.process.wait(30) == 0
    until(lambda: not any(child.is_running() for child in children), "everything that was started has ended", 30)


def _may(client: Client) -> bool:
    try:
        next(client.filings())
    except ServiceError as error:
        assert error.status == 401
        return False
    return True


def _sample(text: str, name: str) -> float:
    return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name + "{"))


def test_invalid_arguments_are_reported_at_once(
    tmp_path: Path, sample_index: str, listen: Callable[[Any], str]
) -> None:
    finray = str(Path(sys.executable).with_name("finray"))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "200"}
        return subprocess.run(
            [finray, "serve", *arguments], capture_output=True, text=True, env=environment, check=False, timeout=120
        )

    async def nothing(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})

    taken = listen(nothing).rpartition(":")[2]
    for arguments, reason in (
        (("--index", str(tmp_path / "none")), "there is no index"),
        (("--index", sample_index), "was built with"),
        (("--index", sample_index, "--no-auth", "--host", "0.0.0.0"), "loopback"),
        (("--index", sample_index, "--port", taken), "cannot listen"),
    ):
        result = run(*arguments)
        assert result.returncode == 2, arguments
        assert reason in result.stderr
        assert "Traceback" not in result.stderr

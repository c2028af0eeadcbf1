"""A server in a child process with hanging questions: it keeps replying, and ends on a signal."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import httpx
import psutil
import pytest

SERVER = """
import socket, sys, uvicorn
from finray.api.app import create_app
from finray.api.service import LocalService
from finray.core.settings import load_settings
from tests.engines import wild

chosen = {"encoder.model": "hash", "loop.transform": "rules", "serving.timeout_s": 1.5, "serving.grace_s": 1}
settings = load_settings(overrides=chosen)
service = LocalService(sys.argv[1], settings, opening=wild.OPENING)
service.wait_until_ready()
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
app = create_app(service, settings.serving, None)
uvicorn.Server(uvicorn.Config(app, log_config=None)).run([listening])
"""
TIMEOUT_S = 1.5


@dataclass(frozen=True, slots=True)
class Server:
    process: subprocess.Popen[str]
    url: str

    def ask(self, question: str, accept: str = "application/json") -> httpx.Response:
        return httpx.post(f"{self.url}/v1/answer", json={"question": question}, headers={"Accept": accept}, timeout=60)

    def engine(self) -> psutil.Process:
        (engine,) = psutil.Process(self.process.pid).children()
        return engine

    def is_answering(self) -> bool:
        """Retries until the engine answers: on a busy machine, a restart may take longer than one request."""
        deadline = time.monotonic() + 60
        while (reply := self.ask("hello")).status_code != 200:
            assert reply.status_code == 504
            assert time.monotonic() < deadline
        return bool(reply.json()["data"][0]["status"] == "answered")


@pytest.fixture(scope="module")
def server(sample_index: str) -> Iterator[Server]:
    command = [sys.executable, "-c", SERVER, sample_index]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Server(process, f"http://127.0.0.1:{int(process.stdout.readline())}")
        process.kill()


def test_a_question_that_holds_the_gil_delays_nothing_else(server: Server) -> None:
    replies: list[httpx.Response] = []
    threads = [
        threading.Thread(target=lambda accept=accept: replies.append(server.ask("regex", accept)))
        for accept in ("application/json", "text/event-stream")
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    asked = []
    while any(thread.is_alive() for thread in threads):
        asked.append(time.monotonic())
        assert httpx.get(f"{server.url}/healthz", timeout=TIMEOUT_S).status_code == 200
        time.sleep(0.1)
    assert time.monotonic() - began >= TIMEOUT_S
    assert min(after - before for before, after in pairwise(asked)) < 1.0
    assert sorted(reply.status_code for reply in replies) == [200, 504]
    assert all("serving.timeout_s" in reply.text for reply in replies)
    assert server.is_answering()


@pytest.mark.slow
def test_a_disconnecting_client_frees_the_engine(server: Server) -> None:
    engine = server.engine()
    headers = {"Accept": "text/event-stream"}
    with httpx.stream("POST", f"{server.url}/v1/answer", json={"question": "regex"}, headers=headers) as reply:
        assert any("event: stage" in line for line in reply.iter_lines())
    assert psutil.wait_procs([engine], timeout=10)[1] == []
    assert server.is_answering()


@pytest.mark.slow
def test_a_stopped_server_ends_hanging_questions(server: Server) -> None:
    """The last test of this module. Requests in progress finish."""
    engine = server.engine()
    with ThreadPoolExecutor(1) as asking:
        asked = asking.submit(server.ask, "regex")
        while engine.cpu_percent(0.1) < 20:
            assert not asked.done()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == -signal.SIGTERM
        assert asked.result().status_code == 504
    assert psutil.wait_procs([engine], timeout=10)[1] == []

"""The key is checked first, the body has a deadline, and every request frees its slot, however it ends."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.testclient import TestClient

from finray.api import keys as keys_module
from finray.api.app import create_app
from finray.api.errors import ApiError
from finray.api.keys import KeyRing, add_key, revoke_key
from finray.api.limits import KeyLimits
from finray.api.service import Asked
from finray.core.predictions import Prediction
from finray.core.replies import AnswerEvent, ServiceEvent
from finray.core.settings import ServingSettings

MakeClient = Callable[..., TestClient]


@pytest.mark.parametrize("path", ["/v1/answer", "/v1/retrieve"])
@pytest.mark.parametrize("content", [b"{", b'{"question": 1}', b"[" * 100_000, b" " * 300_000, b""])
@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer frk_wrong"}])
def test_without_a_key_the_body_is_not_read(
    client: TestClient, path: str, content: bytes, header: dict[str, str]
) -> None:
    del client.headers["Authorization"]
    reply = client.post(path, content=content, headers={"Content-Type": "application/json", **header})
    assert reply.status_code == 401
    assert reply.json()["error"]["type"] == "authentication_error"


@pytest.mark.parametrize(
    ("content", "status"), [(b"{", 422), (b"[" * 100_000, 400), (b" " * 300_000, 413), (b"\xff", 400)]
)
def test_with_a_key_the_body_is_read(client: TestClient, content: bytes, status: int) -> None:
    reply = client.post("/v1/answer", content=content, headers={"Content-Type": "application/json"})
    assert reply.status_code == status


@pytest.mark.parametrize("query", ["limit=0", "cursor=é", "company="])
def test_without_a_key_the_query_is_not_read(client: TestClient, query: str) -> None:
    del client.headers["Authorization"]
    assert client.get(f"/v1/filings?{query}").status_code == 401


class Counted:
    """Answers at once and counts concurrent requests, to check the limit."""

    def __init__(self) -> None:
        self.open = self.most = self.answered = 0

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            await asyncio.sleep(0.002)
            for question in asked.questions:
                yield AnswerEvent(question.qid, "1", Prediction(question.qid, question.question, "", "unanswerable"))
            self.answered += 1
        finally:
            self.open -= 1


def serving(**changed: Any) -> ServingSettings:
    return ServingSettings(**{"questions_per_minute": 1e6, "body_timeout_s": 0.3, **changed})


@pytest.fixture
def address(keys_file: Path, key: str, listen: Callable[[Any], str]) -> tuple[str, int]:
    """The URL of a service with a limit of two concurrent requests for each key."""
    app = create_app(Counted(), serving(max_concurrent=2), KeyRing(str(keys_file), 1.0))  # type: ignore[arg-type]
    url = urlsplit(listen(app))
    assert url.hostname and url.port
    return url.hostname, url.port


def half_sent(key: str | None, path: str = "/v1/answer") -> bytes:
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{authorization}"
    return (head + 'Content-Length: 500\r\n\r\n{"question": ').encode()


@pytest.fixture
def connect(address: tuple[str, int]) -> Iterator[Callable[[bytes], socket.socket]]:
    opened: list[socket.socket] = []

    def send(content: bytes) -> socket.socket:
        opened.append(socket.create_connection(address, timeout=20))
        opened[-1].sendall(content)
        return opened[-1]

    yield send
    for each in opened:
        each.close()


def until_closed(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_half_a_request_without_a_key_ends_at_once(connect: Callable[[bytes], socket.socket]) -> None:
    for path in ("/v1/answer", "/v1/retrieve", "/v1/nothing", "/healthz"):
        reply = until_closed(connect(half_sent(None, path)))
        assert b"\r\nconnection: close\r\n" in reply.lower()
        assert reply.startswith(b"HTTP/1.1 401" if path in ("/v1/answer", "/v1/retrieve") else b"HTTP/1.1 4"), path


def test_half_a_request_with_a_key_ends_at_the_deadline_and_frees_its_slot(
    connect: Callable[[bytes], socket.socket], key: str, address: tuple[str, int]
) -> None:
    url = "http://{}:{}/v1/answer".format(*address)
    with httpx.Client(headers={"Authorization": f"Bearer {key}"}, timeout=20) as client:
        connections = [connect(half_sent(key)) for _ in range(2)]
        codes = []
        while "concurrency_limit" not in codes:  # until both requests are read, then before either has ended
            codes.append(client.post(url, json={}).json()["error"]["code"])
            if len(codes) % 50 == 0:  # a busy machine saw both end
                connections += [connect(half_sent(key)) for _ in range(2)]
            assert len(codes) < 500, codes
        for connection in connections[-2:]:
            head, _, body = until_closed(connection).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 408")
            assert json.loads(body)["error"]["code"] == "request_timeout"
        answered = client.post(url, json={"question": "q"})
    assert answered.status_code == 200
    assert "connection" not in answered.headers


def test_a_slow_body_has_the_same_deadline(connect: Callable[[bytes], socket.socket], key: str) -> None:
    connection = connect(half_sent(key))
    began = time.monotonic()
    with connection:
        try:
            while time.monotonic() < began + 20:
                connection.sendall(b" ")
                time.sleep(0.02)
        except OSError:  # closed by the other side
            return
    raise AssertionError("the service went on reading")


async def test_every_request_frees_its_slot_however_it_ends(keys_file: Path, key: str) -> None:
    service = Counted()
    app = create_app(service, serving(max_concurrent=4), KeyRing(str(keys_file), 0.0))  # type: ignore[arg-type]
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    async def late() -> AsyncGenerator[bytes, None]:
        yield b'{"question": '
        await asyncio.sleep(60)

    def body(number: int) -> dict[str, Any]:
        bodies: tuple[dict[str, Any], ...] = ({"json": {"question": "q"}}, {"content": b"{"}, {"content": late()}, {})
        return bodies[number % len(bodies)]

    async with httpx.AsyncClient(base_url="http://test", transport=httpx.ASGITransport(app), headers=headers) as client:

        async def one(number: int) -> int | None:
            task = asyncio.create_task(client.post("/v1/answer", **body(number)))
            if number % 3 == 0:
                for _ in range(number % 40):
                    await asyncio.sleep(0)
                task.cancel()
            (reply,) = await asyncio.gather(task, return_exceptions=True)
            return reply.status_code if isinstance(reply, httpx.Response) else None

        seen = {status for _ in range(8) for status in await asyncio.gather(*(one(n) for n in range(48)))}
        assert {200, 422, 429, None} <= seen <= {200, 408, 422, 429, None}
        assert service.most <= 4
        assert service.open == 0
        replies = await asyncio.gather(*(client.post("/v1/answer", json={"question": "q"}) for _ in range(4)))
        assert [reply.status_code for reply in replies] == [200] * 4


def test_concurrent_requests_are_counted_exactly() -> None:
    """Requests begin and end in several threads concurrently."""
    limits = KeyLimits(serving(max_concurrent=16))
    problems: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(5_000):
                ends = [limits.begin("a") for _ in range(2)]
                for end in ends:
                    end()
        except (ApiError, KeyError) as error:
            problems.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert problems == []
    for _ in range(16):
        limits.begin("a")
    with pytest.raises(ApiError):
        limits.begin("a")


async def test_a_file_of_keys_that_cannot_be_read_in_time_delays_no_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "keys.json")
    text = add_key(file, "ana")
    ring = KeyRing(file, 0.0)
    revoke_key(file, "ana")
    go, reads = threading.Event(), list[str]()
    read_keys = keys_module.read_keys

    def slow(uri: str) -> Any:
        reads.append(uri)
        assert go.wait(20)
        return read_keys(uri)

    monkeypatch.setattr(keys_module, "read_keys", slow)
    monkeypatch.setattr(keys_module, "_READ_TIMEOUT_S", 0.05)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    ticking = asyncio.create_task(tick())
    found = await asyncio.gather(*(ring.find(text) for _ in range(20)))
    ticking.cancel()
    assert all(found)  # as it was when the file was last read
    assert len(reads) == 1
    assert ticks >= 3
    monkeypatch.setattr(keys_module, "_READ_TIMEOUT_S", 20.0)
    go.set()
    assert await ring.find(text) is None

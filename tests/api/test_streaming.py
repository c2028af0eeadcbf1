"""Streams over a real connection: silence, time limits, failures, disconnecting clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from starlette.responses import Response

from finray.api import streaming
from finray.api.errors import ApiError
from finray.core.replies import DoneEvent, ServiceEvent

DONE = DoneEvent("1", 0.5)
Listen = Callable[[Any], str]


class Work:
    """Events with waits between them; records whether it was closed."""

    def __init__(self, *steps: float | Exception | ServiceEvent) -> None:
        self.steps, self.closed = steps, threading.Event()

    async def events(self) -> AsyncGenerator[ServiceEvent, None]:
        try:
            for step in self.steps:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, float):
                    await asyncio.sleep(step)
                else:
                    yield step
        finally:
            self.closed.set()


@pytest.fixture
def serve(listen: Listen, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.setattr(streaming, "KEEP_ALIVE_S", 0.1)

    def address(work: Work, timeout_s: float = 60.0) -> str:
        app = FastAPI()

        @app.get("/")
        async def stream(request: Request) -> Response:
            try:
                return await streaming.event_stream(request, work.events(), timeout_s)
            except ApiError as error:
                return Response(status_code=error.status)

        return listen(app)

    return address


def test_silence_is_filled_with_comments(serve: Callable[..., str]) -> None:
    """Also before the first event: a proxy would close the connection."""
    reply = httpx.get(serve(Work(0.35, DONE, 0.35)))
    before, _, after = reply.text.partition("event: done\n")
    assert ": still working\n\n" in before
    assert ": still working\n\n" in after
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-accel-buffering"] == "no"


@pytest.mark.parametrize("steps", [(DONE, 60.0), (60.0,)])
def test_the_time_limit_is_an_event_of_a_stream_that_has_begun(
    serve: Callable[..., str], steps: tuple[float | ServiceEvent, ...]
) -> None:
    work = Work(*steps)
    assert '"code":"timeout"' in httpx.get(serve(work, 0.4)).text.replace(" ", "")
    assert work.closed.is_set()


def test_a_failure_before_the_first_event_is_an_ordinary_error(serve: Callable[..., str]) -> None:
    assert httpx.get(serve(Work(ApiError(429, "overloaded", "later")))).status_code == 429


@pytest.mark.parametrize(("error", "code"), [(ApiError(503, "gone", "x"), "gone"), (OSError(), "internal_error")])
def test_a_failure_later_is_an_event(serve: Callable[..., str], error: Exception, code: str) -> None:
    with httpx.stream("GET", serve(Work(DONE, 0.01, error))) as reply:
        text = ""
        try:
            for piece in reply.iter_text():
                text += piece
        except httpx.RemoteProtocolError:
            pass
    assert f'"{code}"' in text


@pytest.mark.parametrize("steps", [(DONE, 60.0), (60.0,)])
def test_a_disconnecting_client_ends_the_stream(
    serve: Callable[..., str], steps: tuple[float | ServiceEvent, ...]
) -> None:
    work = Work(*steps)
    with httpx.stream("GET", serve(work)) as reply:
        next(reply.iter_raw())
    assert work.closed.wait(10)

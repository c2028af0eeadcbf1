"""Work for a client who may leave: when the connection closes, the work ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import suppress
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from finray.api.envelope import CLIENT_CLOSED
from finray.api.errors import INTERNAL, ApiError, problem
from finray.api.events import KEEP_ALIVE, encode_event
from finray.core.replies import ErrorEvent, ServiceEvent

KEEP_ALIVE_S = 10.0
T = TypeVar("T")


async def while_connected(request: Request, work: Awaitable[T], timeout_s: float) -> T:
    """The result of ``work``, which is cancelled when the client leaves or ``timeout_s`` have passed.

    Raises ApiError 504, or 499 when nobody is left to read it. The body of ``request`` must have been read.
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request.receive))
    try:
        await asyncio.wait({task, gone}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone.done():
            raise ApiError(CLIENT_CLOSED, "client_closed_request", "the client closed the connection")
        raise _timed_out(timeout_s)
    finally:
        for each in (task, gone):
            each.cancel()
        with suppress(asyncio.CancelledError, ApiError):
            await task


class EventStream(Response):
    """Events as they come, a comment when there are none for a while, and an ``error`` event where the work fails.

    Closes ``events`` when the client leaves. Whatever raises before the first event is an ordinary error reply.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[ServiceEvent, None], timeout_s: float) -> None:
        self._events, self._timeout_s = events, timeout_s
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers({"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(_disconnected(receive))
        sending = asyncio.ensure_future(self._send_all(send))
        try:
            await asyncio.wait({gone, sending}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (gone, sending):
                task.cancel()
            with suppress(asyncio.CancelledError, ApiError, OSError):
                await sending

    async def _send_all(self, send: Send) -> None:
        waiting: asyncio.Future[ServiceEvent] | None = None
        begun = False
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        try:
            while True:
                waiting = waiting or asyncio.ensure_future(anext(self._events))
                left = deadline - asyncio.get_running_loop().time()
                done, _ = await asyncio.wait({waiting}, timeout=max(0.0, min(KEEP_ALIVE_S, left)))
                try:
                    chunk = encode_event(waiting.result()) if done else KEEP_ALIVE
                    if not done and left <= 0:
                        raise _timed_out(self._timeout_s)
                except StopAsyncIteration:
                    break
                except ApiError as error:
                    if not begun:
                        raise
                    event = ErrorEvent(problem(error.status, error.code, error.message, error.param))
                    chunk, done, left = encode_event(event), set(), 0.0
                if not begun:
                    begun = True
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                if done:
                    waiting = None
                elif left <= 0:
                    break
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except Exception as error:
            if begun and not isinstance(error, OSError):
                event = ErrorEvent(problem(500, "internal_error", INTERNAL))
                await send({"type": "http.response.body", "body": encode_event(event)})
            raise
        finally:
            if waiting is not None:
                waiting.cancel()
                with suppress(asyncio.CancelledError, ApiError, StopAsyncIteration):
                    await waiting
            await self._events.aclose()


def _timed_out(seconds: float) -> ApiError:
    return ApiError(504, "timeout", f"not done after {seconds:g} s (serving.timeout_s); ask for less at once")


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue

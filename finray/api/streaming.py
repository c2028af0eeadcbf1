"""Cancels work when the client disconnects or the time limit passes, and streams events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import TypeVar

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.types import Receive

from finray.api.envelope import CLIENT_CLOSED
from finray.api.errors import ApiError, internal_error
from finray.api.events import encode_event
from finray.core.replies import ErrorEvent, Problem, ServiceEvent

KEEP_ALIVE_S = 10.0
T = TypeVar("T")


async def while_connected(request: Request, work: Awaitable[T], timeout_s: float) -> T:
    """The result of ``work``, which is cancelled if the client disconnects or after ``timeout_s``.

    Raises ApiError 504 on timeout, 499 on disconnect. The body of ``request`` must have been read.
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


async def event_stream(
    request: Request, events: AsyncGenerator[ServiceEvent, None], timeout_s: float
) -> EventSourceResponse:
    """A stream of finray's events; see ``byte_stream``. If the work fails, the last event is ``error``."""
    return await byte_stream(request, _encoded(events), timeout_s, lambda problem: encode_event(ErrorEvent(problem)))


async def byte_stream(
    request: Request, chunks: AsyncGenerator[bytes, None], timeout_s: float, failed: Callable[[Problem], bytes]
) -> EventSourceResponse:
    """A stream of encoded server-sent events, with comments to keep the connection alive, and ``failed`` at the end if
    the work fails.

    Closes ``chunks`` when the client disconnects. Raises ApiError for failures before the first event.
    """
    deadline = asyncio.get_running_loop().time() + timeout_s
    first = asyncio.ensure_future(anext(chunks))
    try:
        await while_connected(request, asyncio.wait({first}, timeout=KEEP_ALIVE_S), timeout_s)
        if first.done():
            first.result()
    except BaseException:
        await _end(first, chunks)
        raise
    return EventSourceResponse(
        _sent(first, chunks, deadline, timeout_s, failed),
        ping=KEEP_ALIVE_S,
        ping_message_factory=lambda: ServerSentEvent(comment="still working", sep="\n"),
    )


async def _encoded(events: AsyncGenerator[ServiceEvent, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(events):
        async for event in events:
            yield encode_event(event)


async def _sent(
    waiting: asyncio.Future[bytes],
    chunks: AsyncGenerator[bytes, None],
    deadline: float,
    timeout_s: float,
    failed: Callable[[Problem], bytes],
) -> AsyncGenerator[bytes, None]:
    try:
        while True:
            await asyncio.wait({waiting}, timeout=deadline - asyncio.get_running_loop().time())
            if not waiting.done():
                raise _timed_out(timeout_s)
            yield waiting.result()
            waiting = asyncio.ensure_future(anext(chunks))
    except StopAsyncIteration:
        return
    except ApiError as error:
        yield failed(error.problem)
    except Exception:
        yield failed(internal_error().problem)
        raise
    finally:
        await _end(waiting, chunks)


async def _end(waiting: asyncio.Future[bytes], chunks: AsyncGenerator[bytes, None]) -> None:
    waiting.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await waiting
    await chunks.aclose()


def _timed_out(seconds: float) -> ApiError:
    return ApiError(504, "timeout", f"not done after {seconds:g} s (serving.timeout_s); ask for less at once")


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue

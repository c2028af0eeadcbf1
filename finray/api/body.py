"""Reads the body of a request within limits on size and time."""

from __future__ import annotations

import asyncio

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import Message

from finray.api.envelope import CLIENT_CLOSED
from finray.api.errors import ApiError
from finray.core.settings import ServingSettings


async def with_body(request: Request, limits: ServingSettings) -> Request:
    """``request`` with its whole body. Raises ApiError 413 if the body is too large, 408 if it is too slow, 499 if the
    client disconnects."""
    limit, seconds = limits.max_body_bytes, limits.body_timeout_s
    too_large = ApiError(413, "request_too_large", f"the body is larger than {limit:,} bytes (serving.max_body_bytes)")
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > limit:
        raise too_large
    left = limit

    async def receive() -> Message:
        nonlocal left
        message = await request.receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise too_large
        return message

    bounded = Request(request.scope, receive)
    try:
        async with asyncio.timeout(seconds):
            await bounded.body()
    except TimeoutError:
        message = f"the body did not arrive within {seconds:g} s (serving.body_timeout_s)"
        raise ApiError(408, "request_timeout", message) from None
    except ClientDisconnect:
        raise ApiError(CLIENT_CLOSED, "client_closed_request", "the client closed the connection") from None
    return bounded

"""Middleware for every request: assigns an id, writes a log line and metrics, and turns failures into API errors."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from finray.api.errors import ApiError
from finray.api.telemetry import Telemetry

REQUEST_ID = "x-request-id"
CLIENT_CLOSED = 499
"""Status if the client disconnects before the reply, as in nginx."""
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_log = logging.getLogger("finray.api.access")


@dataclass
class RequestContext:
    """State of one request. The callbacks in ``ended`` run after the reply ends, also on failure."""

    request_id: str
    key: str | None = None
    ended: list[Callable[[], None]] = field(default_factory=list)
    error: str | None = None


def context_of(scope: Scope) -> RequestContext:
    context = scope["state"]["finray"]
    assert isinstance(context, RequestContext)
    return context


class Envelope:
    """ASGI middleware around the application. Turn ``echo_id`` off if a proxy adds X-Request-Id to replies."""

    def __init__(self, app: ASGIApp, *, telemetry: Telemetry, echo_id: bool = True) -> None:
        self._app, self._telemetry, self._echo_id = app, telemetry, echo_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get(REQUEST_ID)
        context = RequestContext(given if given and _ID.fullmatch(given) else uuid.uuid4().hex)
        scope.setdefault("state", {})["finray"] = context
        started, status, replying = time.perf_counter(), 500, False
        arriving = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers

        async def read() -> Message:
            nonlocal arriving
            message = await receive()
            arriving = arriving and message["type"] == "http.request" and message.get("more_body", False)
            return message

        async def reply(message: Message) -> None:
            nonlocal status, replying
            if message["type"] == "http.response.start":
                status, replying = message["status"], True
                self._add_headers(message, context)
                if arriving:  # the rest of the body stays unread, so the connection cannot be reused
                    MutableHeaders(scope=message)["connection"] = "close"
            await send(message)

        self._telemetry.under_way(1)
        try:
            if given and not _ID.fullmatch(given):
                raise ApiError(
                    400, "invalid_request_id", "X-Request-Id is 1 to 128 letters, digits, '.', '_', ':', '-'"
                )
            await self._app(scope, read, reply)
        except ApiError as error:
            context.error = error.code
            if replying:
                raise
            await error.response()(scope, receive, reply)
        except asyncio.CancelledError:
            # The server cancels a request if its client disconnects: not a failure of the service.
            status, context.error = CLIENT_CLOSED, "client_closed_request"
            raise
        except Exception as error:  # last line of defense
            context.error = type(error).__name__
            _log.exception("request %s failed", context.request_id)
            if not replying:
                raise
        finally:
            for end in context.ended:
                end()
            self._telemetry.under_way(-1)
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "unmatched")
            self._telemetry.request(scope["method"], route, status, seconds)
            _log.info("request", extra={"fields": _line(scope, context, route, status, seconds)})

    def _add_headers(self, message: Message, context: RequestContext) -> None:
        headers = MutableHeaders(scope=message)
        if self._echo_id:
            headers[REQUEST_ID] = context.request_id
        headers.setdefault("x-content-type-options", "nosniff")
        headers.setdefault("referrer-policy", "no-referrer")
        headers.setdefault("cache-control", "no-store")


def _line(scope: Scope, context: RequestContext, route: str, status: int, seconds: float) -> dict[str, Any]:
    """The fields of the log line. Leaves out headers, query and body, which hold keys and questions."""
    line = {
        "event": "request",
        "request_id": context.request_id,
        "method": scope["method"],
        "route": route,
        "status": status,
        "ms": round(seconds * 1000, 1),
        "key": context.key,
    }
    return line | ({"error": context.error} if context.error else {})

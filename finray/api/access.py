"""Authentication by bearer key and per-key limits, both checked before the body of a request is read, and limits on the
size and time of the body."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import ClientDisconnect
from starlette.types import Message

from finray.api.envelope import CLIENT_CLOSED, context_of
from finray.api.errors import ApiError
from finray.api.keys import KeyRing
from finray.api.limits import KeyLimits
from finray.core.settings import ServingSettings

ANONYMOUS = "-"
"""Key name of every request if API-key checks are disabled."""

_FORM_BYTES = 8_192
"""Boundaries and fields around the file of a form."""
_bearer = HTTPBearer(auto_error=False, description="A key of `finray keys add NAME`.")
BEARER = Security(_bearer)
"""Marks a route in the OpenAPI file as requiring a key; :class:`KeyedRoute` does the check."""


def is_loopback(host: str) -> bool:
    """Whether ``host`` is a loopback name or address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """Authenticates requests. ``keys`` None disables API-key checks (``finray serve --no-auth``)."""

    def __init__(self, keys: KeyRing | None, limits: KeyLimits) -> None:
        self._keys = keys
        self.limits = limits

    async def name_of(self, request: Request) -> str:
        """The name of the key. Raises ApiError 401, or 403 if keys are off and the request is not from this machine."""
        if self._keys is None:
            # Check the Host header too: in DNS rebinding, the host name of another site resolves to this machine.
            if request.client and is_loopback(request.client.host) and is_loopback(request.url.hostname or ""):
                return ANONYMOUS
            raise ApiError(403, "not_local", "API-key checks are off, so only the service's own machine may use it")
        credentials: HTTPAuthorizationCredentials | None = await _bearer(request)
        if credentials is None:
            raise ApiError(401, "missing_api_key", "send a key: Authorization: Bearer frk_...")
        key = await self._keys.find(credentials.credentials)
        if key is None:
            raise ApiError(401, "invalid_api_key", "this key is unknown or revoked")
        return key.name


def gate_of(request: Request) -> Gate:
    gate = request.app.state.gate
    assert isinstance(gate, Gate)
    return gate


class KeyedRoute(APIRoute):
    """A route that requires a key. A FastAPI dependency would run too late: FastAPI parses the body first."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def admit_and_handle(request: Request) -> Response:
            return await handle(await self.admit(request))

        return admit_and_handle

    async def admit(self, request: Request) -> Request:
        """The request to handle, with the name of its key in its context. Raises ApiError 401, 403."""
        context_of(request.scope).key = await gate_of(request).name_of(request)
        return request


class ReadRoute(KeyedRoute):
    """A route that counts toward the key's read limit."""

    async def admit(self, request: Request) -> Request:
        """Raises ApiError 401, 403, 429."""
        request = await super().admit(request)
        gate_of(request).limits.read(await key_of(request))
        return request


class AskRoute(KeyedRoute):
    """A route with questions. The request counts toward the key's concurrency limit until the reply is sent."""

    async def admit(self, request: Request) -> Request:
        """Raises ApiError 401, 403, 408, 413, 429."""
        request = await super().admit(request)
        context_of(request.scope).ended.append(gate_of(request).limits.begin(await key_of(request)))
        return await with_body(request, self.limit(request.app.state.settings))

    def limit(self, settings: ServingSettings) -> BodyLimit:
        return body_limit(settings)


class BodyRoute(ReadRoute):
    """A route with a body that counts toward the key's read limit."""

    async def admit(self, request: Request) -> Request:
        """Raises ApiError 401, 403, 408, 413, 429."""
        return await with_body(await super().admit(request), body_limit(request.app.state.settings))


class UploadRoute(AskRoute):
    """A route with a file, which may be larger and slower than other bodies."""

    def limit(self, settings: ServingSettings) -> BodyLimit:
        return BodyLimit(
            settings.max_file_bytes,
            "serving.max_file_bytes",
            settings.file_timeout_s,
            "serving.file_timeout_s",
            _FORM_BYTES,
        )


async def key_of(request: Request) -> str:
    name = context_of(request.scope).key
    assert name is not None
    return name


Key = Annotated[str, Depends(key_of)]
"""The name of the request's key."""


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """Limits on size (bytes) and time with the settings that they come from. ``wrapping`` bytes are allowed on top."""

    size: int
    size_setting: str
    seconds: float
    seconds_setting: str
    wrapping: int = 0


def body_limit(settings: ServingSettings) -> BodyLimit:
    return BodyLimit(
        settings.max_body_bytes, "serving.max_body_bytes", settings.body_timeout_s, "serving.body_timeout_s"
    )


async def with_body(request: Request, limit: BodyLimit) -> Request:
    """``request`` with its whole body. Raises ApiError 413 if the body is too large, 408 if it is too slow, 499 if the
    client disconnects."""
    too_large = ApiError(
        413, "request_too_large", f"the body is larger than {limit.size:,} bytes ({limit.size_setting})"
    )
    most = limit.size + limit.wrapping
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > most:
        raise too_large
    left = most

    async def receive() -> Message:
        nonlocal left
        message = await request.receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise too_large
        return message

    bounded = Request(request.scope, receive)
    try:
        async with asyncio.timeout(limit.seconds):
            await bounded.body()
    except TimeoutError:
        message = f"the body did not arrive within {limit.seconds:g} s ({limit.seconds_setting})"
        raise ApiError(408, "request_timeout", message) from None
    except ClientDisconnect:
        raise ApiError(CLIENT_CLOSED, "client_closed_request", "the client closed the connection") from None
    return bounded

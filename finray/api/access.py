"""Authentication by bearer key and per-key limits. Both are checked before the body of a request is read."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from finray.api.body import with_body
from finray.api.envelope import context_of
from finray.api.errors import ApiError
from finray.api.keys import KeyRing
from finray.api.limits import KeyLimits

ANONYMOUS = "-"
"""Key name of every request if API-key checks are disabled."""

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
        return await with_body(request, request.app.state.settings)


async def key_of(request: Request) -> str:
    name = context_of(request.scope).key
    assert name is not None
    return name


Key = Annotated[str, Depends(key_of)]
"""The name of the request's key."""

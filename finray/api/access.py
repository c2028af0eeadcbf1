"""Who asks: the bearer key of a request, and what it may still do. Known before anything else of a request is read."""

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

ANYBODY = "-"
"""The name that everybody goes by where keys are switched off."""

_bearer = HTTPBearer(auto_error=False, description="A key of `finray keys add NAME`.")
BEARER = Security(_bearer)
"""Says in the OpenAPI file that a route asks for a key; :class:`KeyedRoute` does."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach, or be, ``host``."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """``keys`` None lets everybody in (see ``finray serve --no-auth``)."""

    def __init__(self, keys: KeyRing | None, limits: KeyLimits) -> None:
        self._keys = keys
        self.limits = limits

    async def name_of(self, request: Request) -> str:
        """The name of the key. Raises ApiError 401, and 403 where keys are off and the request is from elsewhere."""
        if self._keys is None:
            # The name asked for counts too: a page of another site can have its own name lead to this machine.
            if request.client and is_loopback(request.client.host) and is_loopback(request.url.hostname or ""):
                return ANYBODY
            raise ApiError(403, "not_local", "this service asks for no keys and serves only the machine it runs on")
        credentials: HTTPAuthorizationCredentials | None = await _bearer(request)
        if credentials is None:
            raise ApiError(401, "missing_api_key", "give a key: Authorization: Bearer frk_...")
        key = await self._keys.find(credentials.credentials)
        if key is None:
            raise ApiError(401, "invalid_api_key", "this key is not known here, or was revoked")
        return key.name


def gate_of(request: Request) -> Gate:
    gate = request.app.state.gate
    assert isinstance(gate, Gate)
    return gate


class KeyedRoute(APIRoute):
    """A route for those who have a key. Dependencies of FastAPI would be too late: it reads and parses the body before
    it asks them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def admitted(request: Request) -> Response:
            return await handle(await self.admit(request))

        return admitted

    async def admit(self, request: Request) -> Request:
        """The request to handle; its context has the name of the key from here on. Raises ApiError 401, 403."""
        context_of(request.scope).key = await gate_of(request).name_of(request)
        return request


class ReadRoute(KeyedRoute):
    """For keys that may read now."""

    async def admit(self, request: Request) -> Request:
        """Raises ApiError 401, 403, 429."""
        request = await super().admit(request)
        gate_of(request).limits.read(await key_of(request))
        return request


class AskRoute(KeyedRoute):
    """For keys that may begin a request with questions now; it is under way until the reply has gone."""

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
"""The name of the key that asks."""

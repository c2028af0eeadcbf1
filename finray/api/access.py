"""Who asks: the bearer key of a request, and what it may still do."""

from __future__ import annotations

import ipaddress
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from finray.api.envelope import context_of
from finray.api.errors import ApiError
from finray.api.keys import KeyRing
from finray.api.limits import KeyLimits

ANYBODY = "-"
"""The name that everybody goes by where keys are switched off."""

_bearer = HTTPBearer(auto_error=False, description="A key of `finray keys add NAME`.")
Bearer = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]


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

    def name_of(self, request: Request, credentials: HTTPAuthorizationCredentials | None) -> str:
        """The name of the key. Raises ApiError 401, and 403 where keys are off and the request is from elsewhere."""
        if self._keys is None:
            # The name asked for counts too: a page of another site can have its own name lead to this machine.
            if request.client and is_loopback(request.client.host) and is_loopback(request.url.hostname or ""):
                return ANYBODY
            raise ApiError(403, "not_local", "this service asks for no keys and serves only the machine it runs on")
        if credentials is None:
            raise ApiError(401, "missing_api_key", "give a key: Authorization: Bearer frk_...")
        key = self._keys.check(credentials.credentials)
        if key is None:
            raise ApiError(401, "invalid_api_key", "this key is not known here, or was revoked")
        return key.name


def gate_of(request: Request) -> Gate:
    gate = request.app.state.gate
    assert isinstance(gate, Gate)
    return gate


def caller(request: Request, credentials: Bearer) -> str:
    """The name of the key. Raises ApiError 401, 403."""
    name = gate_of(request).name_of(request, credentials)
    context_of(request.scope).key = name
    return name


def reader(request: Request, name: Annotated[str, Depends(caller)]) -> str:
    """A caller who may read now. Raises ApiError 401, 429."""
    gate_of(request).limits.read(name)
    return name


def asker(request: Request, name: Annotated[str, Depends(caller)]) -> str:
    """A caller who may begin a question now; it is under way until the reply has gone. Raises ApiError 401, 429."""
    context_of(request.scope).ended.append(gate_of(request).limits.begin(name))
    return name


Asker = Annotated[str, Depends(asker)]

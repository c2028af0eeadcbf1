"""Parses replies and events into typed values, raises their errors, and decides on retries. Opens no connection."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import httpx

from finray.core.errors import FinrayError, UsageError
from finray.core.records import from_object
from finray.core.replies import EVENTS, ServiceEvent
from finray.core.retries import retry_after

RETRIED = frozenset({429, 502, 503})
LONGEST_WAIT_S = 30.0
T = TypeVar("T")


class ServiceError(FinrayError):
    """The service refused the request, failed, or could not be reached (``status`` 0).

    ``code``, ``type`` and ``param`` come from the body of the error, ``retry_after`` (seconds) from its header.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        kind: str = "server_error",
        param: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}" if status else f"{code}: {message}")
        self.status, self.code, self.message, self.type, self.param = status, code, message, kind, param
        self.request_id, self.retry_after = request_id, retry_after


def headers(api_key: str | None) -> dict[str, str]:
    """The headers of every request. Raises UsageError for a key that an HTTP header cannot hold."""
    if api_key is not None and not (api_key.isascii() and api_key.isprintable() and api_key.strip()):
        raise UsageError("the API key has characters that are not allowed in an HTTP header; set it to the key alone")
    return {} if api_key is None else {"Authorization": f"Bearer {api_key.strip()}"}


def reader(kind: type[T]) -> Callable[[httpx.Response], T]:
    """A function that parses a reply as a ``kind`` or raises ServiceError."""

    def read(reply: httpx.Response) -> T:
        try:
            record = reply.json()
        except ValueError as error:
            raise ServiceError(0, "unexpected_reply", "the reply is not JSON; is this a finray service?") from error
        return _read(kind, record)

    return read


def check(reply: httpx.Response) -> None:
    """Raises ServiceError for an error status."""
    if reply.is_success:
        return
    request_id = reply.headers.get("x-request-id")
    try:
        error = reply.json()["error"]
        code, message, kind, param = error["code"], error["message"], error["type"], error["param"]
    except (ValueError, KeyError, TypeError):
        code, message, kind, param = "http_error", f"HTTP {reply.status_code}", "server_error", None
    wait_s = retry_after(reply.headers.get("retry-after"))
    raise ServiceError(
        reply.status_code, code, message, kind=kind, param=param, request_id=request_id, retry_after=wait_s
    )


@contextmanager
def unreachable(base_url: httpx.URL) -> Iterator[None]:
    """Raise errors of the connection as ServiceError."""
    try:
        yield
    except httpx.HTTPError as error:
        message = f"no reply from {base_url}: {type(error).__name__}: {error}"
        raise ServiceError(0, "unreachable", message) from error


def pause(error: Exception) -> bool | float:
    """Whether to retry (temporary refusal or no connection), or the seconds to wait if the service sent them."""
    if not isinstance(error, ServiceError):
        return False
    if error.retry_after is not None and error.status in RETRIED:
        return min(error.retry_after, LONGEST_WAIT_S)
    return error.status in RETRIED or isinstance(error.__cause__, httpx.ConnectError)


class EventReader:
    """Parses the lines of a stream into events. Raises ServiceError for the event ``error``."""

    def __init__(self) -> None:
        self._name = ""
        self._data: list[str] = []

    def read(self, line: str) -> Iterator[ServiceEvent]:
        """The event that ``line`` completes, if any."""
        if line.startswith("event:"):
            self._name = line[6:].strip()
        elif line.startswith("data:"):
            self._data.append(line[5:].lstrip())
        elif not line and self._data:
            name, data = self._name, json.loads("\n".join(self._data))
            self._name, self._data = "", []
            if name == "error":
                error = data["error"]
                raise ServiceError(200, error["code"], error["message"], kind=error["type"], param=error["param"])
            if name in EVENTS:  # skip events of a newer service
                yield _read(EVENTS[name], data)


def _read(kind: type[T], record: object) -> T:
    try:
        return from_object(kind, record)
    except ValueError as error:
        raise ServiceError(0, "unexpected_reply", f"{error}; is this a finray service of this version?") from error

"""Errors of the HTTP service, in OpenAI's format: ``{"error": {"message", "type", "param", "code"}}``."""

from __future__ import annotations

import math
from typing import Any

from finray.core.errors import FinrayError
from finray.core.records import to_object
from finray.core.replies import ErrorReply, ErrorType, Problem

INTERNAL = "something went wrong; see the service's log"
_LONGEST_WAIT_S = 60
_TYPES: dict[int, ErrorType] = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class ApiError(FinrayError):
    """A request that cannot be served.

    ``code`` is a short stable slug, ``param`` the invalid field, ``retry_after`` the seconds to wait before a retry.
    """

    def __init__(
        self, status: int, code: str, message: str, *, param: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle, (self.status, self.code, self.message, self.param, self.retry_after))

    @property
    def headers(self) -> dict[str, str]:
        headers = {}
        if self.retry_after is not None:
            headers["Retry-After"] = str(min(_LONGEST_WAIT_S, max(1, math.ceil(self.retry_after))))
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return headers

    def body(self) -> dict[str, Any]:
        return error_body(self.status, self.code, self.message, self.param)


def problem(status: int, code: str, message: str, param: str | None = None) -> Problem:
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return Problem(message, kind, param, code)


def error_body(status: int, code: str, message: str, param: str | None = None) -> dict[str, Any]:
    return to_object(ErrorReply(problem(status, code, message, param)))


def not_found(message: str, param: str) -> ApiError:
    return ApiError(404, "not_found", message, param=param)


def _unpickle(status: int, code: str, message: str, param: str | None, retry_after: float | None) -> ApiError:
    return ApiError(status, code, message, param=param, retry_after=retry_after)

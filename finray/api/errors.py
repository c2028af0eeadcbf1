"""Errors of the HTTP service, in OpenAI's format: ``{"error": {"message", "type", "param", "code"}}``."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from starlette.responses import JSONResponse, Response

from finray.core.errors import FinrayError
from finray.core.records import to_object
from finray.core.replies import ErrorReply, ErrorType, Problem

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
        self.status, self.code, self.message = status, code, message
        self.param, self.retry_after = param, retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        create = partial(ApiError, param=self.param, retry_after=self.retry_after)
        return create, (self.status, self.code, self.message)

    @property
    def problem(self) -> Problem:
        kind = _TYPES.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return Problem(self.message, kind, self.param, self.code)

    @property
    def headers(self) -> dict[str, str]:
        headers = {}
        if self.retry_after is not None:
            headers["Retry-After"] = str(min(_LONGEST_WAIT_S, max(1, math.ceil(self.retry_after))))
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return headers

    def response(self) -> Response:
        return JSONResponse(to_object(ErrorReply(self.problem)), self.status, self.headers)


def internal_error() -> ApiError:
    """A bug; the reply has no details."""
    return ApiError(500, "internal_error", "something went wrong; see the service's log")


def invalid(code: str, message: str, param: str) -> ApiError:
    return ApiError(422, code, message, param=param)


def not_found(message: str, param: str) -> ApiError:
    return ApiError(404, "not_found", message, param=param)


def no_model(name: str, known: str) -> ApiError:
    """A request names the model ``name`` instead of ``known``."""
    message = f"The model {name[:80]!r} does not exist; this service has {known!r}"
    return ApiError(404, "model_not_found", message, param="model")

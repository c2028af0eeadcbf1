"""Calls of the ingress to replicas: sent again if a replica is lost, with their failures as API errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import BackPressureError

from finray.api.errors import ApiError, internal_error

Send = Callable[[], Any]
"""Sends a request through a handle and returns Serve's response."""
ErrorOf = Callable[[Exception], ApiError]


def as_api_error(error: Exception) -> ApiError:
    """The reply to a request whose replica failed."""
    if isinstance(error, RayTaskError) and isinstance(error.cause, ApiError):
        return error.cause
    if isinstance(error, BackPressureError):
        return ApiError(429, "overloaded", "too many requests are queued; try again", retry_after=1.0)
    if _is_lost(error):
        return ApiError(
            503, "replica_lost", "the replica that handled this request was lost; try again", retry_after=1.0
        )
    return internal_error()


async def reply_to(send: Send, error_of: ErrorOf = as_api_error, *, once: bool = False) -> Any:
    """The reply to a request. If its replica is lost, it goes to another one, unless it may run only ``once``.

    Canceling the caller cancels the request. Raises ApiError.
    """
    for last in (False, True):
        response = send()
        try:
            return await response
        except asyncio.CancelledError:
            response.cancel()
            raise
        except (RayError, BackPressureError) as error:
            if last or once or not _is_lost(error):
                raise error_of(error) from error
    raise AssertionError


async def stream_of(send: Send, error_of: ErrorOf = as_api_error) -> AsyncGenerator[Any, None]:
    """The items of a streamed reply. If the replica is lost before the first, the request goes to another one.

    Closing the generator cancels the request. Raises ApiError.
    """
    for last in (False, True):
        response, begun = send(), False
        try:
            async for item in response:
                begun = True
                yield item
            return
        except (RayError, BackPressureError) as error:
            if last or begun or not _is_lost(error):
                raise error_of(error) from error
        finally:
            response.cancel()


def _is_lost(error: Exception) -> bool:
    """Whether the replica was lost, rather than raised the error itself."""
    return isinstance(error, RayError) and not isinstance(error, RayTaskError)

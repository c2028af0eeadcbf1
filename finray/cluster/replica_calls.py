"""Calls a model in a Ray Serve deployment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from ray.exceptions import RayError, RayTaskError

from finray.core.errors import FinrayError, ModelUnavailableError
from finray.engines.source import Role

METHODS: Final[Mapping[Role, str]] = {
    "encoder": "encode",
    "document_reranker": "score",
    "passage_reranker": "score",
}
IDENTITY: Final = {"model", "revision", "max_tokens"}
"""Settings of an encoder or reranker that decide its results."""
_TRIES = 3
_TRY_SECONDS = 60.0


def asker(handle: Any, method: str, *, try_seconds: float = _TRY_SECONDS) -> Callable[..., Coroutine[Any, Any, Any]]:
    """A function that calls ``method`` of the deployment and retries on another replica if one is lost, or gives no
    reply in ``try_seconds``. Canceling it cancels the request.

    It raises the FinrayError of the replica, or ModelUnavailableError if no replica answers.
    """

    async def ask(*arguments: object) -> Any:
        for attempt in range(1, _TRIES + 1):
            response = getattr(handle, method).remote(*arguments)
            try:
                async with asyncio.timeout(try_seconds):
                    return await response
            except asyncio.CancelledError:
                response.cancel()
                raise
            except RayTaskError as error:
                if isinstance(error.cause, FinrayError):
                    raise error.cause from None
                raise
            except (RayError, TimeoutError) as error:
                response.cancel()
                if attempt == _TRIES:
                    name = handle.deployment_name
                    raise ModelUnavailableError(f"no replica of {name!r} answered: {type(error).__name__}") from error
        raise AssertionError

    return ask

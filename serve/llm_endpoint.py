"""The shared language model behind the ingress: a handle of serve/llm.py for the routes under /llm/v1."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import BackPressureError

from finray.api.errors import ApiError
from finray.core.errors import ModelUnavailableError, RequestRejectedError
from finray.models.openai_wire import served_name
from serve.answering import as_api_error, is_lost


class SharedModel:
    """The Completions over a handle. A request whose replica is lost goes to another one once."""

    def __init__(self, handle: Any, model: str, timeout_s: float) -> None:
        """``model`` is the setting ``llm.model``. A replica gives up after ``timeout_s``."""
        self._handle, self._timeout_s = handle, timeout_s
        self._name = served_name(model)

    @property
    def model(self) -> str:
        return self._name

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        for last in (False, True):
            response = self._handle.complete.remote(body, self._timeout_s)
            try:
                completion: dict[str, Any] = await response
                return completion
            except asyncio.CancelledError:
                response.cancel()
                raise
            except (RayError, BackPressureError) as error:
                if last or not is_lost(error):
                    raise _as_api_error(error) from error
        raise AssertionError

    async def stream(self, body: dict[str, Any]) -> AsyncGenerator[bytes, None]:
        for last in (False, True):
            response, begun = self._handle.options(stream=True).events.remote(body), False
            try:
                async for events in response:
                    begun = True
                    yield events
                return
            except (RayError, BackPressureError) as error:
                if last or begun or not is_lost(error):
                    raise _as_api_error(error) from error
            finally:
                response.cancel()


def _as_api_error(error: Exception) -> ApiError:
    match error.cause if isinstance(error, RayTaskError) else None:
        case RequestRejectedError() as rejected:
            return ApiError(rejected.status, "rejected_by_model", str(rejected))
        case ModelUnavailableError():
            return ApiError(503, "model_unavailable", "the language model gave no reply; try again", retry_after=1.0)
    return as_api_error(error)

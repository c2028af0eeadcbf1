"""The shared language model behind the ingress: a handle of serve/llm.py for the routes under /llm/v1."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, cast

from ray.exceptions import RayTaskError

from finray.api.errors import ApiError
from finray.core.errors import ModelUnavailableError, RequestRejectedError
from finray.models.openai_wire import served_name
from serve.calls import as_api_error, reply_to, stream_of


class SharedModel:
    """The Completions over a handle. A request whose replica is lost goes to another one once."""

    def __init__(self, handle: Any, model: str, timeout_s: float) -> None:
        """``model`` is the setting ``llm.model``. A replica gives up after ``timeout_s``."""
        self.model = served_name(model)
        self._handle, self._stream = handle, handle.options(stream=True)
        self._timeout_s = timeout_s

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        reply = await reply_to(lambda: self._handle.complete.remote(body, self._timeout_s), _as_api_error)
        return cast(dict[str, Any], reply)

    def stream(self, body: dict[str, Any]) -> AsyncGenerator[bytes, None]:
        return stream_of(lambda: self._stream.events.remote(body), _as_api_error)


def _as_api_error(error: Exception) -> ApiError:
    match error.cause if isinstance(error, RayTaskError) else None:
        case RequestRejectedError() as rejected:
            return ApiError(rejected.status, "rejected_by_model", str(rejected))
        case ModelUnavailableError():
            return ApiError(503, "model_unavailable", "the language model gave no reply; try again", retry_after=1.0)
    return as_api_error(error)

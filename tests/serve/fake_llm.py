"""A language model for the application that always gives the same reply."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

from ray import serve

from finray.core.errors import RequestRejectedError
from finray.core.settings import Settings


class FakeLlm:
    async def serves(self) -> dict[str, object]:
        return {"model": "fake"}

    async def complete(self, body: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        _check(body)
        message = {"role": "assistant", "content": "def solution():\n    return 42"}
        usage = {"prompt_tokens": len(body["messages"]), "completion_tokens": 1, "total_tokens": 1}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "fake",
            "choices": [choice],
            "usage": usage,
        }

    async def events(self, body: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        _check(body)
        for content in ("4", "2"):
            yield (
                b'data: {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": '
                b'[{"index": 0, "delta": {"content": "%s"}, "finish_reason": null}]}\n\n' % content.encode()
            )
        yield b"data: [DONE]\n\n"


def _check(body: Mapping[str, Any]) -> None:
    if body["model"] != "fake":
        raise RequestRejectedError(404, f"it runs 'fake', not llm.model = {body['model']!r}")


def bind(settings: Settings, options: Mapping[str, Any]) -> serve.Application:
    deployment: Any = serve.deployment(name="llm")(FakeLlm)
    bound: serve.Application = deployment.options(**options).bind()
    return bound

"""A language model for the application that always gives the same reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ray import serve

from finray.core.settings import LlmSettings, Settings
from finray.core.types import TokenUsage
from finray.models.chat import ChatReply, Message


class FakeLlm:
    async def serves(self) -> dict[str, object]:
        return {"model": "fake"}

    async def chat(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, asker: LlmSettings
    ) -> ChatReply:
        assert asker.model == "fake"
        return ChatReply("def solution():\n    return 42", TokenUsage(len(messages), 1))


def bind(settings: Settings, options: Mapping[str, Any]) -> serve.Application:
    deployment: Any = serve.deployment(name="llm")(FakeLlm)
    bound: serve.Application = deployment.options(**options).bind()
    return bound

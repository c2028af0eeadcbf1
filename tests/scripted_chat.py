"""A language model whose replies a test decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from finray.core.predictions import TokenUsage
from finray.models.chat import ChatReply, Message
from finray.models.structured import read_structured


class ScriptedChatModel:
    """``script`` maps a conversation to the reply. ``calls`` records every conversation."""

    def __init__(self, script: Callable[[Sequence[Message]], str | Mapping[str, Any]]) -> None:
        self._script = script
        self.calls: list[tuple[Message, ...]] = []

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        self.calls.append(tuple(messages))
        reply = self._script(messages)
        parsed: Mapping[str, Any] | None = None
        if not isinstance(reply, str):
            parsed = dict(reply)
        elif schema is not None:
            parsed = read_structured(reply, schema)
        words = sum(len(message.content.split()) for message in messages)
        return ChatReply(str(reply), TokenUsage(words, len(str(reply).split())), parsed)

"""The language-model role, and its fake."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from finray.core.types import TokenUsage
from finray.models.structured import format_instructions, read_structured


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """``parsed`` is the object where a schema was asked for and the reply could be read so, else None; ``cut`` says
    that the reply ended because it might not be longer."""

    text: str
    usage: TokenUsage
    parsed: Mapping[str, Any] | None = None
    cut: bool = False


class ChatModel(Protocol):
    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        """One completion. With ``schema`` (JSON Schema) the reply's ``parsed`` holds an object with its required
        properties, or None where the model gave none; their types are for the caller to check.

        Raises ModelUnavailableError when the server cannot be reached or keeps refusing, ModelReplyError when it
        answers with something else than a reply.
        """
        ...


class ScriptedChatModel:
    """A fake: ``script`` maps the conversation to the reply. Records every conversation in ``calls``."""

    def __init__(self, script: Callable[[Sequence[Message]], str | Mapping[str, Any]]) -> None:
        self._script = script
        self.calls: list[tuple[Message, ...]] = []

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        self.calls.append(tuple(messages))
        reply = self._script(messages)
        words_in = sum(len(message.content.split()) for message in messages)
        if isinstance(reply, str):
            parsed = read_structured(reply, schema) if schema is not None else None
            return ChatReply(reply, TokenUsage(words_in, len(reply.split())), parsed)
        return ChatReply(str(reply), TokenUsage(words_in, len(str(reply).split())), dict(reply))


def with_format(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """The form of the reply as a part of the instructions, which come first and never change."""
    form = format_instructions(schema)
    first, *rest = messages
    if first.role != "system":
        return [Message("system", form), *messages]
    return [Message("system", f"{first.content}\n\n{form}"), *rest]

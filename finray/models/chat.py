"""The role of a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from finray.core.predictions import TokenUsage
from finray.models.structured import format_instructions


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """``parsed`` is the object if a schema was requested and the reply fits it, else None. ``cut`` is true if the reply
    reached its length limit."""

    text: str
    usage: TokenUsage
    parsed: Mapping[str, Any] | None = None
    cut: bool = False


class ChatModel(Protocol):
    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        """One completion. With ``schema`` (JSON Schema), ``parsed`` of the reply is an object with the required
        properties, or None if the model gave none. The caller checks the types.

        Raises ModelUnavailableError if the server cannot be reached or keeps refusing, ModelReplyError if its answer is
        not a valid reply.
        """
        ...


def with_format(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """``messages`` with the reply format added to the system message, which stays the same for every question."""
    form = format_instructions(schema)
    first, *rest = messages
    if first.role != "system":
        return [Message("system", form), *messages]
    return [Message("system", f"{first.content}\n\n{form}"), *rest]

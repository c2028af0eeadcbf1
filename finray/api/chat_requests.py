"""Bodies of chat requests, as OpenAI's clients and chat front ends send them. All input is hostile.

Parameters that steer a language model (temperature, tools, ...) are accepted and ignored, as are unknown ones.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from finray.api.errors import ApiError, invalid
from finray.api.requests import Filters, read_text
from finray.core.chat_replies import CHAT_MODEL
from finray.core.question_fields import MAX_CONTEXT
from finray.core.questions import Question
from finray.core.settings import ServingSettings

_TEXT_PARTS = frozenset({"text", "input_text"})


class ChatTurn(BaseModel):
    """One message. Only those of the user are read."""

    role: str = Field(max_length=40)
    content: str | list[dict[str, Any]] | None = Field(None, description="Text, or parts of which the texts are read.")


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel):
    """The last user message is answered; the earlier ones are its context."""

    model: str = Field(max_length=200, examples=[CHAT_MODEL])
    messages: list[ChatTurn] = Field(min_length=1, max_length=2_000)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(None, ge=1, le=1, description="Only one choice.")
    filters: Filters = Field(Filters(), description="finray's own: restricts the filings that answers may come from.")

    @property
    def last(self) -> int:
        """The position of the last user message. Raises ApiError 422 if there is none."""
        for position in range(len(self.messages) - 1, -1, -1):
            if self.messages[position].role == "user":
                return position
        raise invalid("no_user_message", "'messages' has no message with the role 'user'", "messages")

    @property
    def prompt(self) -> str:
        """The text of the last user message. Raises ApiError 422 for parts that are not text."""
        last = self.last
        content = self.messages[last].content
        if isinstance(content, list) and (others := [part for part in content if not _is_text(part)]):
            kind = str(others[0].get("type"))[:40]
            message = f"a part of type {kind!r} cannot be read; send {{'type': 'text', 'text': '...'}}"
            raise invalid("unsupported_content", message, f"messages.{last}.content")
        return _text(self.messages[last])

    def question(self, limits: ServingSettings) -> Question:
        """The last user message, with the earlier ones as context; skips those that are not valid questions. Raises
        ApiError 422 for an invalid question."""
        last = self.last
        asked = read_text(self.prompt, limits, f"messages.{last}.content")
        texts = [_text(turn) for turn in self.messages[:last] if turn.role == "user"]
        return Question("1", asked, context=tuple(_readable(texts, limits))[-MAX_CONTEXT:])


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str)


def _text(turn: ChatTurn) -> str:
    if isinstance(turn.content, list):
        return "\n".join(part["text"] for part in turn.content if _is_text(part))
    return turn.content or ""


def _readable(texts: list[str], limits: ServingSettings) -> list[str]:
    """The ``texts`` that are valid questions."""
    kept = []
    for text in texts:
        try:
            kept.append(read_text(text, limits, "messages"))
        except ApiError:  # an invalid question was refused when it was asked
            continue
    return kept

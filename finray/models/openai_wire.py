"""Bodies of OpenAI's chat completions: requests from settings and messages, replies to ChatReply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from finray.core.errors import ModelReplyError
from finray.core.predictions import TokenUsage
from finray.core.settings import LlmSettings
from finray.models.chat import ChatReply, Message
from finray.models.structured import read_structured


def request_body(
    settings: LlmSettings, messages: Sequence[Message], schema: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The request with the sampling of ``settings``. With ``schema``, the server is to enforce it."""
    body: dict[str, Any] = {
        "model": settings.model,
        "messages": [{"role": m.role, "content": m.content} for m in messages],
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
    }
    if settings.seed is not None:
        body["seed"] = settings.seed
    if schema is not None:
        form = {"name": "reply", "schema": schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    return body


def served_name(model: str) -> str:
    """The name under which replicas serve ``llm.model``: the last part of a folder's path, or the hub name."""
    return Path(model).expanduser().name if is_path(model) else model


def is_path(model: str) -> bool:
    """Whether ``llm.model`` is the path of a folder, not the name of a model on a hub."""
    path = Path(model).expanduser()
    return path.is_absolute() or model.startswith(".") or len(path.parts) > 2


def read_reply(payload: Mapping[str, Any], settings: LlmSettings, schema: Mapping[str, Any] | None) -> ChatReply:
    """The first choice of a completion, with its tokens at the prices of ``settings``. Raises ModelReplyError."""
    try:
        choice = payload["choices"][0]
        text = choice["message"]["content"]
    except (KeyError, IndexError, TypeError) as error:
        raise ModelReplyError("the reply has no choices[0].message.content") from error
    if not isinstance(text, str):
        raise ModelReplyError("the reply's message.content is not text")
    read, written, cached = _token_counts(payload.get("usage"))
    usage = TokenUsage(read, written, settings.cost(read, written), cached)
    parsed = read_structured(text, schema) if schema is not None else None
    return ChatReply(text, usage, parsed, cut=choice.get("finish_reason") == "length")


def _token_counts(usage: object) -> tuple[int, int, int]:
    """Tokens read, written, and read from the cache; 0 if the server omits a count or sends null."""
    found = usage if isinstance(usage, dict) else {}
    details = found.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    read, written, cached = (
        count if isinstance(count, int) else 0
        for count in (found.get("prompt_tokens"), found.get("completion_tokens"), cached)
    )
    return read, written, cached

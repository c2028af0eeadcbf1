"""Any OpenAI-compatible chat server over HTTP: vLLM, llama.cpp, a hosted service."""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from finray.errors import ModelReplyError, ModelUnavailableError
from finray.models.chat import ChatReply, Message
from finray.models.structured import format_instructions, read_structured
from finray.question_fields import excerpt
from finray.settings import LlmSettings
from finray.types import TokenUsage

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})
_LONGEST_WAIT_S = 30.0
_SCHEMA = re.compile(r"response_format|json_schema|structured|guided|schema", re.I)
"""In the words of servers that refuse one."""


class OpenAIChatModel:
    """Chat completions with timeouts, retries with jitter on overload, and a limit on requests in flight. Where the
    server takes no JSON schema, the form of the reply goes into the instructions.

    Raises ModelUnavailableError where the key cannot be sent or ``base_url`` is no URL.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._key = os.environ.get(settings.api_key_env, "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelUnavailableError(
                f"${settings.api_key_env} holds characters that no HTTP header can carry; set it to the key alone"
            )
        self._settings = settings
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            self._client = httpx.AsyncClient(
                base_url=settings.base_url.rstrip("/") + "/", headers=headers, timeout=settings.timeout_s
            )
        except httpx.InvalidURL as error:
            raise ModelUnavailableError(f"llm.base_url = {settings.base_url!r} is not a URL: {error}") from error
        self._slots = asyncio.Semaphore(settings.max_concurrency)
        self._takes_schemas = settings.structured_output != "none"

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        async with self._slots:
            if schema is not None and self._takes_schemas:
                try:
                    payload = await self._post(self._body(messages, response_format=_response_format(schema)))
                except _SchemaRefused:
                    self._takes_schemas = False
                else:
                    return self._reply(payload, schema)
            if schema is not None:
                messages = _with_format(messages, schema)
            return self._reply(await self._post(self._body(messages)), schema)

    def _body(self, messages: Sequence[Message], **more: Any) -> dict[str, Any]:
        return {
            "model": self._settings.model,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "temperature": self._settings.temperature,
            "max_tokens": self._settings.max_tokens,
            **more,
        }

    def _reply(self, payload: Mapping[str, Any], schema: Mapping[str, Any] | None) -> ChatReply:
        try:
            text = payload["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ModelReplyError("the reply has no choices[0].message.content") from error
        if not isinstance(text, str):
            raise ModelReplyError("the reply's message.content is not text")
        read, written = _counted(payload.get("usage"))
        cost = (read * self._settings.prompt_price + written * self._settings.completion_price) / 1e6
        parsed = read_structured(text, schema) if schema is not None else None
        return ChatReply(text, TokenUsage(read, written, cost), parsed)

    async def close(self) -> None:
        await self._client.aclose()

    async def _post(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        where = f"{self._settings.base_url} (model {self._settings.model!r})"
        tries = self._settings.max_retries + 1
        problem = ""
        for attempt in range(tries):
            if attempt:
                wait = min(_LONGEST_WAIT_S, self._settings.retry_wait_s * 2 ** (attempt - 1))
                await asyncio.sleep(wait * (0.5 + random.random()))
            try:
                response = await self._client.post("chat/completions", json=body)
            except (httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
                raise ModelUnavailableError(f"{where}: {error}; check llm.base_url") from error
            except httpx.HTTPError as error:
                problem = f"{type(error).__name__}: {error}".removesuffix(": ")
                continue
            if response.status_code in _RETRIED:
                problem = f"HTTP {response.status_code}: {self._excerpt(response)}"
                continue
            refused = response.status_code in (400, 422) and _SCHEMA.search(response.text[:4_000])
            if refused and "response_format" in body and self._settings.structured_output == "auto":
                raise _SchemaRefused
            if not response.is_success:
                raise ModelUnavailableError(
                    f"{where} answered HTTP {response.status_code}: {self._excerpt(response)}; "
                    f"check llm.base_url, llm.model and ${self._settings.api_key_env}"
                )
            try:
                payload = response.json()
            except (ValueError, RecursionError) as error:
                raise ModelReplyError(f"{where} answered with something that is not JSON") from error
            if not isinstance(payload, dict):
                raise ModelReplyError(f"{where} answered with JSON that is not an object")
            return payload
        raise ModelUnavailableError(
            f"{where} gave no answer after {tries} tries; last: {problem}; "
            "is the server running, and is llm.base_url right?"
        )

    def _excerpt(self, response: httpx.Response) -> str:
        """What the server says, without the key: some repeat the one they refuse."""
        text = response.text.replace(self._key, "[key]") if self._key else response.text
        return repr(excerpt(text))


class _SchemaRefused(Exception):
    """The server takes no JSON schema."""


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}


def _with_format(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """The form of the reply as a part of the instructions, which come first and never change."""
    form = format_instructions(schema)
    first, *rest = messages
    if first.role != "system":
        return [Message("system", form), *messages]
    return [Message("system", f"{first.content}\n\n{form}"), *rest]


def _counted(usage: object) -> tuple[int, int]:
    """Tokens read and written. Servers may leave them out or send null; an answer is not lost over that."""
    found = usage if isinstance(usage, dict) else {}
    read, written = found.get("prompt_tokens"), found.get("completion_tokens")
    return (read if isinstance(read, int) else 0), (written if isinstance(written, int) else 0)

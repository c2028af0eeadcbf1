"""Any OpenAI-compatible chat server over HTTP: vLLM, llama.cpp, a hosted service."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from finray.errors import ModelReplyError, ModelUnavailableError
from finray.models.chat import ChatReply, Message
from finray.question_fields import excerpt
from finray.settings import LlmSettings
from finray.types import TokenUsage

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})
_LONGEST_WAIT_S = 30.0


class OpenAIChatModel:
    """Chat completions with timeouts, retries with jitter on overload, and a limit on requests in flight.

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

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        body: dict[str, Any] = {
            "model": self._settings.model,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "temperature": self._settings.temperature,
            "max_tokens": self._settings.max_tokens,
        }
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": schema, "strict": True},
            }
        async with self._slots:
            payload = await self._post(body)
        return _reply(payload, wants_json=schema is not None)

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


def _reply(payload: Mapping[str, Any], *, wants_json: bool) -> ChatReply:
    try:
        text = payload["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError) as error:
        raise ModelReplyError("the reply has no choices[0].message.content") from error
    if not isinstance(text, str):
        raise ModelReplyError("the reply's message.content is not text")
    usage = _usage(payload.get("usage"))
    if not wants_json:
        return ChatReply(text, usage)
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelReplyError(f"asked for JSON, got {excerpt(text, 120)!r}") from error
    if not isinstance(parsed, dict):
        raise ModelReplyError(f"asked for a JSON object, got {excerpt(text, 120)!r}")
    return ChatReply(text, usage, parsed)


def _usage(counted: object) -> TokenUsage:
    """Servers may leave the counts out or send null; an answer is not lost over that."""
    found = counted if isinstance(counted, dict) else {}
    numbers = (found.get("prompt_tokens"), found.get("completion_tokens"))
    return TokenUsage(*(number if isinstance(number, int) else 0 for number in numbers))

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
from finray.settings import LlmSettings
from finray.types import TokenUsage

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})


class OpenAIChatModel:
    """Chat completions with timeouts, retries with jitter on overload, and a limit on requests in flight."""

    def __init__(self, settings: LlmSettings, client: httpx.AsyncClient | None = None) -> None:
        key = os.environ.get(settings.api_key_env, "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._settings = settings
        self._client = client or httpx.AsyncClient(
            base_url=settings.base_url.rstrip("/") + "/", headers=headers, timeout=settings.timeout_s
        )
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
        problem = "no try was made"
        for attempt in range(self._settings.max_retries + 1):
            if attempt:
                await asyncio.sleep(min(30.0, 0.5 * 2**attempt) * (0.5 + random.random()))
            try:
                response = await self._client.post("chat/completions", json=body)
            except httpx.HTTPError as error:
                problem = f"{type(error).__name__}: {error}"
                continue
            if response.status_code in _RETRIED:
                problem = f"HTTP {response.status_code}"
                continue
            if response.is_error:
                raise ModelUnavailableError(
                    f"{where} answered HTTP {response.status_code}: {response.text[:200]!r}; "
                    f"check llm.base_url, llm.model and ${self._settings.api_key_env}"
                )
            try:
                payload = response.json()
            except ValueError as error:
                raise ModelReplyError(f"{where} answered with something that is not JSON") from error
            if not isinstance(payload, dict):
                raise ModelReplyError(f"{where} answered with JSON that is not an object")
            return payload
        raise ModelUnavailableError(
            f"{where} gave no answer after {self._settings.max_retries + 1} tries; last: {problem}; "
            "is the server running, and is llm.base_url right?"
        )


def _reply(payload: Mapping[str, Any], *, wants_json: bool) -> ChatReply:
    try:
        text = payload["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError) as error:
        raise ModelReplyError("the reply has no choices[0].message.content") from error
    if not isinstance(text, str):
        raise ModelReplyError("the reply's message.content is not text")
    counted = payload.get("usage") or {}
    usage = TokenUsage(int(counted.get("prompt_tokens", 0)), int(counted.get("completion_tokens", 0)))
    if not wants_json:
        return ChatReply(text, usage)
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError as error:
        raise ModelReplyError(f"asked for JSON, got {text[:120]!r}") from error
    if not isinstance(parsed, dict):
        raise ModelReplyError(f"asked for a JSON object, got {text[:120]!r}")
    return ChatReply(text, usage, parsed)

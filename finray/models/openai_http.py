"""Client of OpenAI-compatible chat servers: vLLM, llama.cpp, hosted services."""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from finray.core.errors import ModelReplyError, ModelUnavailableError
from finray.core.question_fields import excerpt
from finray.core.retries import attempts, retry_after
from finray.core.settings import LlmSettings
from finray.models.chat import ChatReply, Message, with_format
from finray.models.openai_wire import read_reply, request_body

_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})
_MAX_WAIT_S = 30.0
_MAX_RETRY_AFTER_S = 120.0
_SERVER = "the server at llm.base_url"
"""The server's name in errors about single replies. Traces show those to users, who must not see the address."""
_SCHEMA = re.compile(r"response_format|json_schema|structured|guided|schema", re.I)
"""Words in the errors of servers that reject a schema."""


class OpenAIChatModel:
    """Chat completions with timeouts, retries with jitter on overload, and a limit on requests in flight. If the server
    accepts no JSON schema, the instructions describe the reply format.

    Raises ModelUnavailableError if the key cannot be sent or ``base_url`` is not a URL.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._key = os.environ.get(settings.api_key_env, "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelUnavailableError(
                f"${settings.api_key_env} has characters that an HTTP header cannot hold; set it to the key alone"
            )
        self._settings = settings
        self._server = f"{settings.base_url} (model {settings.model!r})"
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            self._client = httpx.AsyncClient(
                base_url=settings.base_url.rstrip("/") + "/", headers=headers, timeout=settings.timeout_s
            )
        except httpx.InvalidURL as error:
            raise ModelUnavailableError(f"llm.base_url = {settings.base_url!r} is not a URL: {error}") from error
        self._slots = asyncio.Semaphore(settings.in_flight)
        self._use_schemas = settings.structured_output != "none"

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        async with self._slots:
            if schema is not None and self._use_schemas:
                try:
                    payload = await self._post(request_body(self._settings, messages, schema))
                except _SchemaRejected:
                    self._use_schemas = False
                else:
                    return read_reply(payload, self._settings, schema)
            if schema is not None:
                messages = with_format(messages, schema)
            return read_reply(await self._post(request_body(self._settings, messages)), self._settings, schema)

    async def close(self) -> None:
        await self._client.aclose()

    async def _post(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        tries = self._settings.max_retries + 1
        waits = {"wait_s": self._settings.retry_wait_s, "longest_wait_s": _MAX_WAIT_S, "jitter_s": 0.0}
        try:
            async for attempt in attempts(tries, lambda e: isinstance(e, _TransientError) and e.wait_s, **waits):
                with attempt:
                    return await self._post_once(body, attempt.next_wait * (0.5 + random.random()))
        except _TransientError as error:
            raise ModelUnavailableError(
                f"{self._server} gave no answer after {tries} tries; last: {error}; "
                "is the server running, and is llm.base_url right?"
            ) from error
        raise AssertionError("attempts() ended without a result or an error")

    async def _post_once(self, body: Mapping[str, Any], wait_s: float) -> Mapping[str, Any]:
        """Raises _TransientError, to be retried after ``wait_s`` plus the server's Retry-After."""
        try:
            response = await self._client.post("chat/completions", json=body)
        except (httpx.UnsupportedProtocol, httpx.LocalProtocolError) as error:
            raise ModelUnavailableError(f"{self._server}: {error}; check llm.base_url") from error
        except httpx.HTTPError as error:
            raise _TransientError(f"{type(error).__name__}: {error}".removesuffix(": "), wait_s) from error
        if response.status_code in _RETRIED:
            asked_s = min(retry_after(response.headers.get("retry-after")) or 0.0, _MAX_RETRY_AFTER_S)
            # Wait at least as long as the server asks, but do not retry everything at that moment.
            raise _TransientError(f"HTTP {response.status_code}: {self._excerpt(response)}", asked_s + wait_s)
        rejected = response.status_code in (400, 422) and _SCHEMA.search(response.text[:4_000])
        if rejected and "response_format" in body and self._settings.structured_output == "auto":
            raise _SchemaRejected
        if not response.is_success:
            raise ModelUnavailableError(
                f"{self._server} answered HTTP {response.status_code}: {self._excerpt(response)}; "
                f"check llm.base_url, llm.model and ${self._settings.api_key_env}"
            )
        try:
            payload = response.json()
        except (ValueError, RecursionError) as error:
            raise ModelReplyError(f"{_SERVER} answered with something that is not JSON") from error
        if not isinstance(payload, dict):
            raise ModelReplyError(f"{_SERVER} answered with JSON that is not an object")
        return payload

    def _excerpt(self, response: httpx.Response) -> str:
        """The beginning of the response without the key, which some servers repeat."""
        text = response.text.replace(self._key, "[key]") if self._key else response.text
        return repr(excerpt(text))


class _TransientError(Exception):
    """A retry after ``wait_s`` may succeed."""

    def __init__(self, problem: str, wait_s: float) -> None:
        super().__init__(problem)
        self.wait_s = wait_s


class _SchemaRejected(Exception):
    """The server accepts no JSON schema."""

"""The replica of a language model: the server of ``ray.serve.llm``, asked in JSON. Importing this imports vLLM."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, NoReturn

from pydantic import ValidationError
from ray.serve.llm import LLMServer
from ray.serve.llm.openai_api_models import ChatCompletionRequest
from vllm.exceptions import VLLMClientError, VLLMServerError

from finray.core.errors import ModelUnavailableError, RequestRejectedError
from finray.core.question_fields import excerpt


class LanguageModel(LLMServer):
    """Takes and returns the bodies of OpenAI's chat completions as JSON, so that processes that ask it need no vLLM.

    Its other methods, such as ``chat``, are those that applications of ``ray.serve.llm`` call.
    """

    async def complete(self, body: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """One completion. The engine aborts it after ``timeout_s`` and if the caller is cancelled.

        Raises RequestRejectedError for a request that the model cannot serve, ModelUnavailableError on timeout and if
        the engine has ended.
        """
        request = self._request(body, stream=False)
        reply: Any = None
        try:
            async with asyncio.timeout(timeout_s) as limit, aclosing(await self.chat(request)) as replies:
                reply = await anext(replies)
        except TimeoutError:
            raise self._late(timeout_s) from None
        except VLLMServerError as error:
            raise self._ended(error) from None
        if limit.expired():  # vLLM turns a cancellation into an error reply
            raise self._late(timeout_s)
        if getattr(reply, "error", None) is not None:
            self._reject(reply)
        completion: dict[str, Any] = reply.model_dump(mode="json")
        return completion

    async def events(self, body: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """One completion as server-sent events, several to a piece. Closing the generator aborts it. Raises as
        ``complete``, before the first event."""
        request = self._request(body, stream=True)
        try:
            async with aclosing(await self.chat(request)) as pieces:
                async for piece in pieces:
                    for event in piece:
                        if not isinstance(event, str):
                            self._reject(event)
                    yield "".join(piece).encode()
        except VLLMServerError as error:
            raise self._ended(error) from None

    async def serves(self) -> dict[str, object]:
        """The model's name, by which callers check that this is the model they want."""
        return {"model": self._name}

    @property
    def _name(self) -> str:
        name: str = self._llm_config.model_id
        return name

    def _request(self, body: Mapping[str, Any], *, stream: bool) -> Any:
        if (asked := body.get("model")) != self._name:
            raise RequestRejectedError(404, f"it runs {self._name!r}, not llm.model = {asked!r}")
        try:
            return ChatCompletionRequest.model_validate({**body, "stream": stream})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise RequestRejectedError(400, f"{where}: {first['msg']}") from None
        except VLLMClientError as error:
            raise RequestRejectedError(400, excerpt(str(error), 300)) from None

    def _reject(self, reply: Any) -> NoReturn:
        status, message = int(reply.error.code), excerpt(str(reply.error.message), 300)
        if 400 <= status < 500:
            raise RequestRejectedError(status, message)
        raise ModelUnavailableError(f"vLLM with {self._name!r} failed: {message}")

    def _late(self, seconds: float) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"vLLM with {self._name!r} gave no reply in {seconds:g} s; raise llm.timeout_s, or lower "
            "llm.max_concurrency or llm.max_tokens"
        )

    def _ended(self, error: Exception) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"vLLM with {self._name!r} has ended: {excerpt(str(error), 200)}; see the log of its replica"
        )

"""A language model in Ray Serve replicas (serve/llm.py) as a ChatModel."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import ray
from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import BackPressureError, RayServeException

from finray.cluster.runtime import ClusterError, attach
from finray.core.errors import FinrayError, ModelUnavailableError, RequestRejectedError
from finray.core.question_fields import excerpt
from finray.core.retries import attempts
from finray.core.settings import LlmSettings
from finray.models.chat import ChatReply, Message, with_format
from finray.models.openai_wire import read_reply, request_body, served_name

_LONGEST_WAIT_S = 30.0
_LOST = (RayError, RayServeException, BackPressureError)


class ServeChatModel:
    """Asks the application ``settings.serve_app`` on the cluster, with the sampling and the prices of ``settings``.

    Errors of the replica are raised as they were raised there. If a replica dies or the queue is full, the request is
    retried ``max_retries`` times; cancelling a caller cancels its request. Raises ModelUnavailableError if there is no
    cluster or no such application.
    """

    def __init__(self, settings: LlmSettings, handle: Any = None) -> None:
        """``handle`` is a deployment to ask instead of the application."""
        self._settings = settings
        self._name = f"the Ray Serve application {settings.serve_app!r}"
        self._handle = handle if handle is not None else self._find()
        # Serve passes each replica as many requests as it takes, and scales by those that wait.
        self._slots = asyncio.Semaphore(settings.max_concurrency) if settings.max_concurrency else nullcontext()

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        tries, wait_s = self._settings.max_retries + 1, self._settings.retry_wait_s
        try:
            async with self._slots:
                async for attempt in attempts(
                    tries, _is_passing, wait_s=wait_s, longest_wait_s=_LONGEST_WAIT_S, jitter_s=wait_s
                ):
                    with attempt:
                        return await self._ask(messages, schema)
        except RayTaskError as error:
            if isinstance(error.cause, RequestRejectedError):
                raise ModelUnavailableError(
                    f"{self._name} rejects a request: {excerpt(str(error.cause), 300)}; it must run an "
                    "instruction-tuned model; llm.vllm.max_model_len, retrieval.k_passages and loop.max_kept limit the "
                    "length of prompts"
                ) from None
            if isinstance(error.cause, FinrayError):
                raise error.cause from None
            raise ModelUnavailableError(
                f"{self._name} failed: {type(error.cause).__name__}: {excerpt(str(error.cause), 300)}"
            ) from error
        except _LOST as error:
            problem = f"{type(error).__name__}: {excerpt(str(error), 200)}"
            raise ModelUnavailableError(f"{self._name} gave no answer after {tries} tries; last: {problem}") from error
        raise AssertionError

    def _find(self) -> Any:
        try:
            if not ray.is_initialized():
                attach()
            return serve.get_app_handle(self._settings.serve_app)
        except (ClusterError, RayServeException) as error:
            raise ModelUnavailableError(
                f"{self._name} does not run: {excerpt(str(error), 300)}; start it with `serve run --name "
                f"{self._settings.serve_app} serve.llm:app`, or see llm.serve_app and RAY_ADDRESS"
            ) from error

    async def _ask(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> ChatReply:
        chosen = self._settings
        enforced = schema if chosen.structured_output != "none" else None
        if schema is not None and enforced is None:
            messages = with_format(messages, schema)
        body = request_body(chosen, messages, enforced) | {"model": served_name(chosen.model)}
        response = self._handle.complete.remote(body, chosen.timeout_s)
        try:
            return read_reply(await response, chosen, schema)
        except asyncio.CancelledError:
            response.cancel()
            raise


def _is_passing(error: Exception) -> bool:
    """Whether the request or its replica was lost, not that the replica raised an error."""
    return isinstance(error, _LOST) and not isinstance(error, RayTaskError)

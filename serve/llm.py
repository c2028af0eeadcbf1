"""A language model on vLLM as a Ray Serve application, for `llm.backend = "serve"`.

    serve run --name llm --route-prefix none serve.llm:app llm.model=/models/Qwen2.5-7B-Instruct gpus=1

Arguments are settings of finray by dotted name, ``preset`` (default "vllm"), ``cpus`` and ``gpus`` of a replica
(default ``llm.vllm.tensor_parallel_size``; 0 with vLLM's build for CPUs), ``min_replicas`` and ``max_replicas``. In a
Serve configuration file, they stand under ``args``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ray import serve

from finray.cluster.gpus import hide_unassigned_gpus
from finray.cluster.serve_chat import ServeChatModel
from finray.core.errors import ModelUnavailableError, SettingsError
from finray.core.settings import LlmSettings, Settings, load_settings
from finray.models.chat import ChatModel, ChatReply, Message
from finray.models.vllm_engine import VllmChatModel, check_gpus, gpus_of

_DEFAULTS = {"cpus": 1, "min_replicas": 1, "max_replicas": 1}
_TIMEOUTS = {"health_check_timeout_s": 60, "graceful_shutdown_timeout_s": 30}
"""Tokenizing many long prompts may delay a health check."""


class LanguageModel:
    """One engine. vLLM batches concurrent requests, so Serve does not."""

    def __init__(self, settings: LlmSettings) -> None:
        hide_unassigned_gpus()
        self._model = VllmChatModel(settings)
        self._name = settings.model

    async def chat(
        self, messages: Sequence[Message], schema: Mapping[str, Any] | None, asker: LlmSettings
    ) -> ChatReply:
        """See :meth:`VllmChatModel.chat_as`. Cancelled together with the request."""
        if asker.model != self._name:
            raise ModelUnavailableError(
                f"the Ray Serve application {asker.serve_app!r} runs {self._name!r}, not llm.model = {asker.model!r}"
            )
        return await self._model.chat_as(asker, messages, schema)

    async def serves(self) -> dict[str, object]:
        """The model, for callers that must not take another one for theirs."""
        return {"model": self._name}

    async def running(self) -> int:
        """The number of unfinished requests."""
        return self._model.running()

    def check_health(self) -> None:
        """Raises if the engine has ended; Serve then replaces the replica."""
        self._model.check()

    def __del__(self) -> None:
        model = getattr(self, "_model", None)  # missing if __init__ failed
        if model is not None:
            model.close()


_DEPLOYMENT: Any = serve.deployment(name="llm")(LanguageModel)


def bind(settings: Settings, options: Mapping[str, Any]) -> serve.Application:
    """The bound deployment, for use in a larger application. ``options`` are those of ``Deployment.options``.

    By default a replica has the GPUs that vLLM's build here needs, and takes as many requests as its engine batches.
    Raises SettingsError if ``tensor_parallel_size`` and the GPUs asked for do not agree.
    """
    llm = settings.llm
    resources = {"num_gpus": gpus_of(llm), **options.get("ray_actor_options", {})}
    check_gpus(llm, resources["num_gpus"], "num_gpus of the language model's replicas")
    chosen = {"max_ongoing_requests": llm.in_flight, **_TIMEOUTS, **options, "ray_actor_options": resources}
    bound: serve.Application = _DEPLOYMENT.options(**chosen).bind(llm)
    return bound


def chat_model(handle: Any, settings: Settings) -> ChatModel:
    """A chat model over a handle of the deployment from :func:`bind`."""
    return ServeChatModel(settings.llm, handle)


def app(arguments: Mapping[str, Any]) -> serve.Application:
    """The application for ``serve run`` and ``serve deploy``. Raises SettingsError."""
    given = dict(arguments)
    settings = load_settings(str(given.pop("preset", "vllm")), {n: v for n, v in given.items() if "." in n})
    own = {name: value for name, value in given.items() if "." not in name}
    defaults = {**_DEFAULTS, "gpus": gpus_of(settings.llm)}
    if unknown := own.keys() - defaults.keys():
        raise SettingsError(
            f"unknown argument {min(unknown)!r}; use preset, {', '.join(defaults)}, or a setting such as llm.model"
        )
    wanted = {name: float(own.get(name, default)) for name, default in defaults.items()}
    check_gpus(settings.llm, wanted["gpus"], "gpus")
    return bind(
        settings,
        {
            "ray_actor_options": {"num_cpus": wanted["cpus"], "num_gpus": wanted["gpus"]},
            "autoscaling_config": {
                "min_replicas": int(wanted["min_replicas"]),
                "max_replicas": int(wanted["max_replicas"]),
                "target_ongoing_requests": max(1, settings.llm.in_flight // 2),
            },
        },
    )

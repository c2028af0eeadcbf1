"""A language model as a deployment of ``ray.serve.llm``, which runs vLLM; alone, for ``llm.backend = "serve"``:

    serve run --name llm --route-prefix none serve.llm:app llm.model=/models/Qwen2.5-7B-Instruct gpus=1

Arguments are settings of finray by dotted name, ``preset`` (default "vllm"), ``cpus`` and ``gpus`` of a replica
(default ``llm.vllm.tensor_parallel_size``; 0 with vLLM's build for CPUs), ``min_replicas`` and ``max_replicas``. In a
Serve configuration file, they stand under ``args``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ray import serve

from finray.cluster.serve_chat import ServeChatModel
from finray.core.errors import SettingsError
from finray.core.settings import LlmSettings, Settings, load_settings
from finray.models.chat import ChatModel
from finray.models.openai_wire import served_name
from finray.models.vllm_arguments import ENVIRONMENT, engine_arguments, import_vllm
from finray.models.vllm_engine import check_gpus, gpus_of

_DEFAULTS = {"cpus": 1, "min_replicas": 1, "max_replicas": 1}
_TIMEOUTS = {"health_check_timeout_s": 60, "graceful_shutdown_timeout_s": 30}
"""Tokenizing many long prompts may delay a health check."""


def bind(settings: Settings, options: Mapping[str, Any]) -> serve.Application:
    """The bound deployment, for use in a larger application. ``options`` are those of ``Deployment.options``.

    ``ray_actor_options.num_gpus`` counts the GPUs of the whole replica; the default is what the installed build of vLLM
    needs. A replica takes as many requests as its engine batches. Raises SettingsError if ``tensor_parallel_size`` and
    the GPUs do not agree, ModelUnavailableError if vLLM is not installed.
    """
    arguments = llm_config(settings.llm, options)
    import_vllm()
    from ray.serve.llm import LLMConfig, build_llm_deployment

    from serve.llm_server import LanguageModel

    bound: serve.Application = build_llm_deployment(
        LLMConfig(**arguments), deployment_cls=LanguageModel, override_serve_options={"name": "llm"}
    )
    return bound


def llm_config(llm: LlmSettings, options: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of ``ray.serve.llm.LLMConfig``. Raises SettingsError if GPUs and workers of the engine disagree."""
    actor = {"num_gpus": gpus_of(llm), **options.get("ray_actor_options", {})}
    gpus = float(actor.pop("num_gpus"))
    check_gpus(llm, gpus, "num_gpus of the language model's replicas")
    engine = engine_arguments(llm, on_cpu=not gpus)
    source = engine.pop("model")
    variables = {name: os.environ.get(name, value) for name, value in ENVIRONMENT.items()}
    if not gpus:
        variables["CUDA_VISIBLE_DEVICES"] = ""
    return {
        "model_loading_config": {"model_id": served_name(llm.model), "model_source": source},
        # Its metrics go to Ray's, so its statistics stay on.
        "engine_kwargs": {**engine, "disable_log_stats": False, "enable_prompt_tokens_details": True},
        "placement_group_config": _placement(llm.vllm.tensor_parallel_size, gpus),
        "runtime_env": {"env_vars": variables},
        "deployment_config": {
            "max_ongoing_requests": llm.in_flight,
            **_TIMEOUTS,
            **options,
            "ray_actor_options": actor,
        },
    }


def _placement(workers: int, gpus: float) -> dict[str, Any]:
    """The bundles of the engine's workers. The replica's own CPUs are added to the first."""
    if not gpus:
        return {"bundles": [{"CPU": 0}]}
    # On one node: workers exchange activations at every layer.
    return {"bundle_per_worker": {"GPU": gpus / workers}, "strategy": "STRICT_PACK"}


def chat_model(handle: Any, settings: Settings) -> ChatModel:
    """A chat model over a handle of the deployment from :func:`bind`."""
    return ServeChatModel(settings.llm, handle)


def app(arguments: Mapping[str, Any]) -> serve.Application:
    """The application for ``serve run`` and ``serve deploy``. Raises SettingsError."""
    return bind(*deployment_of(arguments))


def deployment_of(arguments: Mapping[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """The settings and the options of the deployment that ``arguments`` of :func:`app` name. Raises SettingsError."""
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
    return settings, {
        "ray_actor_options": {"num_cpus": wanted["cpus"], "num_gpus": wanted["gpus"]},
        "autoscaling_config": {
            "min_replicas": int(wanted["min_replicas"]),
            "max_replicas": int(wanted["max_replicas"]),
            "target_ongoing_requests": max(1, settings.llm.in_flight // 2),
        },
    }

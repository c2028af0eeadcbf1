"""Arguments of the application: which index, which settings, and how many replicas of what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ray.serve.config import AutoscalingConfig

from finray.api.keys import ApiKey
from finray.core.errors import SettingsError
from finray.core.settings import Settings, load_settings


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Replicas(_Arguments):
    """Replicas of one deployment. With ``max_replicas`` above ``min_replicas`` their number follows the load:
    ``target_ongoing_requests`` each."""

    min_replicas: int = Field(1, ge=0)
    max_replicas: int = Field(1, ge=1)
    target_ongoing_requests: float = Field(8.0, gt=0)
    upscale_delay_s: float = Field(10.0, ge=0)
    downscale_delay_s: float = Field(120.0, ge=0)
    look_back_period_s: float = Field(30.0, gt=10)
    """More than the ten seconds in which replicas report their load."""
    max_ongoing_requests: int = Field(256, ge=1)
    graceful_shutdown_timeout_s: float = Field(20.0, ge=0)
    """How long a replica that is to end may go on with the requests that it has."""
    num_cpus: float = Field(1.0, ge=0)
    num_gpus: float = Field(0.0, ge=0)
    """A share of a GPU, such as 0.25, is fine for encoder and reranker."""

    def options(self) -> dict[str, Any]:
        """What ``Deployment.options`` takes."""
        scale: dict[str, Any] = {"num_replicas": self.max_replicas}
        if self.min_replicas < self.max_replicas:
            names = {"min_replicas", "max_replicas", "target_ongoing_requests", "upscale_delay_s", "downscale_delay_s"}
            names.add("look_back_period_s")
            scale = {"autoscaling_config": AutoscalingConfig(**self.model_dump(include=names))}
        resources = {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus}
        return {
            **scale,
            "max_ongoing_requests": self.max_ongoing_requests,
            "graceful_shutdown_timeout_s": self.graceful_shutdown_timeout_s,
            "ray_actor_options": resources,
        }


class BatchedReplicas(Replicas):
    """Replicas that put requests together: up to ``max_batch_size``, waiting ``batch_wait_s`` for more."""

    max_batch_size: int = Field(32, ge=1)
    batch_wait_s: float = Field(0.002, ge=0)


class LanguageModel(_Arguments):
    """Replicas of a language model within the application. ``build`` names a function ``module:function`` that takes
    the settings and ``options`` and returns a bound deployment; ``chat`` one that makes a ChatModel of its handle and
    the settings. ``options`` are those of ``Deployment.options``. Without this the roles ask as ``llm`` of the settings
    says."""

    build: str = "serve.llm:bind"
    chat: str = "serve.llm:chat_model"
    options: dict[str, Any] = {}


class ServeArguments(_Arguments):
    """``serve run serve.app:build index=/path`` gives the first few; a config file gives all.

    The roles run inside the ingress unless ``answering`` asks for replicas of their own, and encode in their own
    process unless ``encoder`` does: on one machine every hop costs more than it brings.
    """

    index: str
    preset: str = "local"
    set: dict[str, Any] = {}
    """Settings by dotted name: ``{"serving.max_in_flight": 32}``."""
    auth: bool = True
    """Off lets everybody in; then Serve must listen on the loopback interface only."""
    run_keys: tuple[ApiKey, ...] = ()
    """Keys (hashes) besides those of the file ``serving.keys``."""
    ingress: Replicas = Replicas()
    answering: Replicas | None = None
    encoder: BatchedReplicas | None = None
    reranker: BatchedReplicas | None = None
    llm: LanguageModel | None = None

    def settings(self) -> Settings:
        """Raises SettingsError."""
        return load_settings(self.preset, self.set)


def read_arguments(given: ServeArguments | Mapping[str, Any]) -> ServeArguments:
    """Raises SettingsError that names the first argument that does not fit."""
    try:
        return ServeArguments.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"argument {where!r}: {first['msg']}; serve/config.py documents the arguments") from error

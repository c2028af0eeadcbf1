"""What a replica of the language model asks of the cluster. Starts neither Ray nor vLLM."""

from __future__ import annotations

from typing import Any

import pytest

from finray.core.errors import SettingsError
from finray.core.settings import LlmSettings
from serve.llm import llm_config


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


@pytest.mark.parametrize(("gpus", "workers"), [(1, 2), (2, 1), (0.5, 2), (1.5, 1)])
def test_gpus_and_workers_must_agree(gpus: float, workers: int) -> None:
    with pytest.raises(SettingsError, match="tensor_parallel_size is"):
        config(gpus, tensor_parallel_size=workers)


def test_without_gpus_none_is_used() -> None:
    found = config(0)
    assert found["runtime_env"]["env_vars"]["CUDA_VISIBLE_DEVICES"] == ""
    assert found["engine_kwargs"]["kv_cache_memory_bytes"] > 0


def test_as_many_requests_as_the_engine_takes_are_in_flight() -> None:
    assert config(1, max_num_seqs=128)["deployment_config"]["max_ongoing_requests"] == 128
    assert config(1)["deployment_config"]["max_ongoing_requests"] == LlmSettings().max_concurrency


def test_clients_see_the_name_of_a_model_not_its_folder() -> None:
    found = llm_config(LlmSettings(model="/models/Small-1B"), {})
    assert found["model_loading_config"] == {"model_id": "Small-1B", "model_source": "/models/Small-1B"}
    assert config(1)["model_loading_config"]["model_id"] == "acme/large"

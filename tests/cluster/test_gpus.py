"""Processes of a job use the GPUs that Ray assigned to them, and no others."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import ray

from finray.cluster import answer_job
from finray.cluster.answer_job import AnswerPool
from finray.cluster.gpus import hide_unassigned_gpus
from finray.cluster.runtime import ClusterError
from finray.cluster.served_models import ServedModels
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings
from tests.engines import wild

pytestmark = [pytest.mark.ray, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def a_gpu() -> Iterator[None]:
    """A cluster that promises one GPU, which no process needs to touch."""
    if ray.is_initialized():
        ray.shutdown()
    ray.init(
        address="local", num_cpus=2, num_gpus=1, include_dashboard=False, log_to_driver=False,
        object_store_memory=200 * 1024**2, _node_ip_address="127.0.0.1",
    )  # fmt: skip
    yield
    ray.shutdown()


def test_only_a_process_with_a_gpu_sees_one(a_gpu: None) -> None:
    def visible() -> str | None:
        hide_unassigned_gpus()
        return os.environ.get("CUDA_VISIBLE_DEVICES")

    task: Any = ray.remote(visible)
    seen = ray.get([task.options(num_gpus=gpus).remote() for gpus in (0, 1, 0.5)])
    assert seen == ["", "0", "0"]


def test_the_engine_of_an_answer_worker_sees_no_gpu(a_gpu: None, local_settings: Settings, tmp_path: Path) -> None:
    with closing(AnswerPool(str(tmp_path), local_settings, 1, opening=wild.OPENING)) as pool:
        prediction = asyncio.run(pool.answer(Question("q", "env CUDA_VISIBLE_DEVICES")))
    assert (prediction.status, prediction.answer) == ("answered", "")


def test_workers_with_their_own_vllm_are_as_many_as_gpus(a_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_job, "gpus_of", lambda llm: llm.vllm.tensor_parallel_size)
    one = load_settings("vllm", environment={})
    two = load_settings("vllm", {"llm.vllm.tensor_parallel_size": 2}, {})
    assert answer_job._gpus_of_worker(one, None) == 1
    assert answer_job._default_workers(1) == 1
    with pytest.raises(ClusterError, match="takes 2 GPUs, and this machine has 1"):
        answer_job._gpus_of_worker(two, None)
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")  # a node with two may come
    assert answer_job._gpus_of_worker(two, None) == 2


def test_workers_share_the_gpus_for_models_that_need_one(a_gpu: None) -> None:
    def share(workers: int, **changed: str) -> float:
        settings = load_settings(overrides={name.replace("__", "."): value for name, value in changed.items()})
        return answer_job._share_of_gpus(settings, None, workers)

    assert share(3, encoder__model="intfloat/e5") == 0.33
    assert share(3, passage_reranker__model="/models/deberta") == 0.33
    assert share(3, encoder__model="intfloat/e5", encoder__device="cpu") == 0.0
    assert share(3) == 0.0  # MiniLM encodes a question in milliseconds
    served = ServedModels("app", frozenset({"encoder"}), load_settings())
    assert answer_job._share_of_gpus(load_settings(overrides={"encoder.model": "e5"}), served, 3) == 0.0

"""Bulk answering with the models of a Serve application gives the answers that workers give with their own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray
from ray import serve

from finray.batch.prediction_store import read_predictions
from finray.cluster.runtime import ray_cluster
from finray.cluster.served_models import find_models
from finray.core.errors import ModelUnavailableError, UsageError
from finray.core.predictions import Prediction
from finray.core.settings import load_settings
from finray.library import answer_many
from serve.app import build
from serve.config import BatchedReplicas, LanguageModel, Replicas, ServeArguments
from serve.metrics import cluster_metrics
from tests.tiny_models import write_cross_encoder
from tests.weightless import WEIGHTLESS

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
SMALL = {"num_cpus": 0.1}
QUESTIONS = 16


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_cross_encoder(tmp_path_factory.mktemp("cross-encoder"))


@pytest.fixture(scope="module")
def chosen(cross_encoder: str) -> dict[str, Any]:
    """Settings of the application and of those who use it."""
    reranker = {"passage_reranker.model": cross_encoder, "passage_reranker.max_tokens": 128}
    return {**WEIGHTLESS, **reranker, "retrieval.reranked_pages": 4, "llm.model": "fake"}


@pytest.fixture(scope="module")
def application(sample_index: str, chosen: dict[str, Any]) -> Iterator[str]:
    """The name of an application with encoder, reranker and language model in replicas."""
    with ray_cluster(num_cpus=4):
        serve.start(proxy_location="Disabled")
        arguments = ServeArguments(
            index=sample_index,
            set=chosen,
            auth=False,
            ingress=Replicas(**SMALL),
            encoder=BatchedReplicas(**SMALL, batch_wait_s=0.05),
            reranker=BatchedReplicas(**SMALL, batch_wait_s=0.05),
            llm=LanguageModel(build="tests.serve.fake_llm:bind", options={"ray_actor_options": SMALL}),
        )
        serve.run(build(arguments), name="models", route_prefix=None)
        yield "models"
        serve.shutdown()  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def questions(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    lines = (sample_folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    few = tmp_path_factory.mktemp("asked") / "questions.jsonl"
    few.write_text("\n".join(lines[:: len(lines) // QUESTIONS][:QUESTIONS]), encoding="utf-8")
    return str(few)


def job(*arguments: str, settings: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Run jobs/answer.py on the cluster of this process."""
    options = [f"--set={name}={value}" for name, value in settings.items()]
    environment = os.environ | {"RAY_ADDRESS": ray.get_runtime_context().gcs_address, "COLUMNS": "400"}
    command = [sys.executable, str(ROOT / "jobs" / "answer.py"), *arguments, *options]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=400)


def stored(uri: str) -> list[Prediction]:
    found = (replace(prediction, seconds=0.0) for prediction in read_predictions(uri).predictions)
    return sorted(found, key=lambda prediction: prediction.qid)


def test_the_job_with_an_application_gives_the_predictions_of_own_models(
    application: str, questions: str, sample_index: str, chosen: dict[str, Any], tmp_path: Path
) -> None:
    served, own = str(tmp_path / "served.jsonl"), str(tmp_path / "own.jsonl")
    run = job(
        *(questions, "--index", sample_index, "--out", served, "--workers", "2", "--json"),
        *("--app", application),
        settings=chosen,
    )
    assert run.returncode == 0, run.stderr
    assert "models of the application 'models': encoder, passage_reranker" in run.stderr
    assert json.loads(run.stdout)["questions"] == QUESTIONS
    answer_many(questions, sample_index, own, load_settings(overrides=chosen, environment={}), workers=0)
    assert stored(served) == stored(own)


def test_the_language_model_of_the_application_answers(
    application: str, questions: str, sample_index: str, chosen: dict[str, Any], tmp_path: Path
) -> None:
    # The settings name an engine of the worker's own, which would need vLLM.
    asking = {**chosen, "loop.answerer": "hirec", "llm.backend": "vllm"}
    out = str(tmp_path / "out.jsonl")
    remarks: list[str] = []
    settings = load_settings(overrides=asking, environment={})
    answer_many(questions, sample_index, out, settings, app=application, workers=2, remark=remarks.append)
    assert remarks == ["answering with models of the application 'models': encoder, llm, passage_reranker"]
    answered = [prediction for prediction in stored(out) if prediction.status == "answered"]
    assert len(answered) >= QUESTIONS // 2
    assert {prediction.usage["answer"].completion_tokens for prediction in answered} == {1}
    assert 42.0 in {prediction.value for prediction in answered}


def batches(deployment: str) -> tuple[float, float]:
    """The batches of a deployment so far, and those of one request, as `/metrics` of the service shows them.

    Not the sum of sizes, which Ray takes from the middles of the buckets.
    """
    every = alone = 0.0
    for line in asyncio.run(cluster_metrics()).splitlines():
        if line.startswith("ray_serve_actual_batch_size_bucket{") and f'deployment="{deployment}"' in line:
            labels, _, value = line.rpartition(" ")
            every += float(value) if 'le="+Inf"' in labels else 0.0
            alone += float(value) if 'le="1.0"' in labels or 'le="1"' in labels else 0.0
    return every, alone


def test_concurrent_questions_form_batches(
    application: str, questions: str, sample_index: str, chosen: dict[str, Any], tmp_path: Path
) -> None:
    settings = load_settings(overrides=chosen, environment={})
    answer_many(questions, sample_index, str(tmp_path / "out.jsonl"), settings, app=application, workers=1)
    for deployment in ("encoder", "passage_reranker"):
        deadline = time.monotonic() + 60  # Ray exports metrics every ten seconds
        while not (found := batches(deployment))[0] and time.monotonic() < deadline:
            time.sleep(1)
        every, alone = found
        assert alone < every, f"{every:g} batches of {deployment}, {alone:g} of one request"


def test_an_application_that_does_not_run_is_an_error_with_those_that_do(
    application: str, questions: str, sample_index: str, chosen: dict[str, Any], tmp_path: Path
) -> None:
    run = job(
        *(questions, "--index", sample_index, "--out", str(tmp_path / "out.jsonl"), "--app", "nothing"), settings=chosen
    )
    assert run.returncode == 2, run.stderr
    assert "error: no application 'nothing' runs on this cluster; these run: 'models'" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"encoder.model": "minilm"}, "runs 'encoder' with model = 'hash', but encoder.model = 'minilm'"),
        ({"passage_reranker.max_tokens": 64}, "with max_tokens = 128, but passage_reranker.max_tokens = 64"),
        ({"loop.answerer": "hirec", "llm.model": "x"}, "runs 'llm' with model = 'fake', but llm.model = 'x'"),
    ],
)
def test_an_application_with_other_models_is_refused(
    application: str, chosen: dict[str, Any], changed: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        find_models(application, load_settings(overrides={**chosen, **changed}, environment={}))


def test_an_application_without_models_is_refused(application: str, sample_index: str, chosen: dict[str, Any]) -> None:
    arguments = ServeArguments(index=sample_index, set=WEIGHTLESS, auth=False, ingress=Replicas(**SMALL))
    serve.run(build(arguments), name="bare", route_prefix="/bare")
    with pytest.raises(UsageError, match=r"has none of the models .* \(encoder, passage_reranker\): it has ingress"):
        find_models("bare", load_settings(overrides=chosen, environment={}))
    found = find_models(application, load_settings(overrides=chosen, environment={}))
    serve.delete("bare")
    assert found.roles == {"encoder", "passage_reranker"}
    with pytest.raises(ModelUnavailableError, match="the application 'gone' is gone"):
        replace(found, app="gone").outsiders()

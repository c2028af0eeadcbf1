"""`jobs/answer.py --app` with encoder, reranker and language model in replicas of one application. The model is far too
weak to answer: what counts is that every question ends in a prediction that says what was done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from finray.batch.prediction_store import read_predictions
from tests.tiny_models import write_cross_encoder

pytestmark = [pytest.mark.llm, pytest.mark.ray, pytest.mark.timeout(900), pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).parents[2]
QUESTIONS = 2
SMALL = {"num_cpus": 0.1}


@pytest.fixture(scope="module")
def chosen(
    small_model: str, engine_settings: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Settings of the application and of the job."""
    return {
        **{f"llm.vllm.{name}": value for name, value in engine_settings.items()},
        **{"llm.model": small_model, "llm.max_tokens": 96, "encoder.model": "hash", "loop.i_max": 1},
        **{"retrieval.k_passages": 2, "loop.max_kept": 2, "evidence.max_tokens": 300},
        **{"retrieval.reranked_pages": 4, "passage_reranker.max_tokens": 128},
        "passage_reranker.model": write_cross_encoder(tmp_path_factory.mktemp("cross-encoder")),
    }


@pytest.fixture(scope="module")
def environment(chosen: dict[str, Any], sample_index: str) -> Iterator[dict[str, str]]:
    """The environment of a job on the cluster where the application ``models`` runs."""
    import ray
    from ray import serve

    from finray.cluster.runtime import ray_cluster
    from serve.app import build

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with ray_cluster(num_cpus=4):
            serve.start(proxy_location="Disabled")
            arguments = {
                "index": sample_index,
                "preset": "vllm",
                "set": chosen,
                "auth": False,
                "ingress": SMALL,
                "encoder": SMALL,
                "reranker": SMALL,
                "llm": {"options": {"ray_actor_options": {"num_cpus": 1}}},
            }
            try:
                serve.run(build(arguments), name="models", route_prefix=None)
                address = ray.get_runtime_context().gcs_address
                yield os.environ | {"RAY_ADDRESS": address, "HF_HUB_OFFLINE": "1", "COLUMNS": "400"}
            finally:
                serve.shutdown()  # type: ignore[no-untyped-call]


def test_the_workers_of_a_bulk_run_share_all_models_of_the_application(
    environment: dict[str, str], chosen: dict[str, Any], sample_folder: Path, sample_index: str, tmp_path: Path
) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / "predictions.jsonl"
    lines = (sample_folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions.write_text("\n".join(lines[:: len(lines) // QUESTIONS][:QUESTIONS]), encoding="utf-8")
    options = [f"--set={name}={value}" for name, value in chosen.items()]
    job = [sys.executable, str(ROOT / "jobs" / "answer.py"), str(questions), "--index", sample_index, "--out", str(out)]
    run = subprocess.run(
        [*job, "--app", "models", "--workers", "2", "--preset", "vllm", "--json", *options],
        capture_output=True, text=True, env=environment, timeout=800,
    )  # fmt: skip
    assert run.returncode in (0, 1), run.stderr
    assert json.loads(run.stdout)["questions"] == QUESTIONS
    assert "models of the application 'models': encoder, llm, passage_reranker" in run.stderr
    found = read_predictions(str(out)).predictions
    assert len(found) == QUESTIONS
    for prediction in found:
        if prediction.status == "error":
            assert str(prediction.error).startswith("ModelReplyError"), prediction.error
    assert sum(usage.prompt_tokens for p in found for usage in p.usage.values()) > 500 * QUESTIONS

"""`finray answer --preset vllm` from questions to scores. The model is far too weak to answer: what counts is that
every question ends in a prediction that says what was done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from finray.batch.prediction_store import read_predictions

pytestmark = [pytest.mark.llm, pytest.mark.timeout(900)]

QUESTIONS = 5


def finray(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "finray"), *arguments]
    environment = os.environ | {"FINRAY_ENCODER__MODEL": "hash", "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=850)


def test_every_question_ends_in_a_prediction_with_its_tokens(
    small_model: str, engine_settings: dict[str, Any], sample_folder: Path, sample_index: str, tmp_path: Path
) -> None:
    questions, predictions = tmp_path / "questions.jsonl", tmp_path / "predictions.jsonl"
    lines = (sample_folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions.write_text("\n".join(lines[:: len(lines) // QUESTIONS][:QUESTIONS]), encoding="utf-8")
    chosen = {
        **{f"llm.vllm.{name}": value for name, value in engine_settings.items()},
        **{"llm.model": small_model, "llm.max_tokens": 96, "llm.replay_cache": tmp_path / "replies"},
        **{"llm.prompt_price": 0.1, "llm.completion_price": 0.4},
        **{"retrieval.k_passages": 2, "loop.max_kept": 2, "loop.i_max": 1, "evidence.max_tokens": 300},
    }
    options = [f"--set={name}={value}" for name, value in chosen.items()]
    run = finray(
        *("answer", str(questions), "--index", sample_index, "--out", str(predictions), "--preset", "vllm", "--json"),
        *options,
    )
    assert run.returncode in (0, 1), run.stderr
    summary = json.loads(run.stdout)  # nothing of vLLM's stands beside it
    assert summary["questions"] == QUESTIONS
    assert "Traceback" not in run.stderr
    found = read_predictions(str(predictions)).predictions
    assert len(found) == QUESTIONS
    for prediction in found:
        assert {"transform", "respond"} <= prediction.usage.keys() or prediction.missing, prediction.trace
        if prediction.status == "error":
            assert str(prediction.error).startswith("ModelReplyError: answer"), prediction.error
    said = [line for prediction in found for line in prediction.trace]
    assert any(line.startswith("transform: ") for line in said)
    assert any("asking once more" in line for line in said), "a model this weak needs a second try now and then"
    cached = sum(usage.cached_tokens for prediction in found for usage in prediction.usage.values())
    assert cached > 500, "the instructions come first, and are read once"
    scores = finray("evaluate", str(predictions), str(questions))
    assert scores.returncode in (0, 1), scores.stderr
    for shown in ("tokens a question, transform", "tokens a question, respond", "cost of a question"):
        assert shown in scores.stdout

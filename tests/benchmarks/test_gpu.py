"""The benchmark of one GPU runs here in its tiny mode, and names the stage with the least capacity."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu.py"
PARSE = {"stage": "parse", "of": "1 process", "chunks_per_s": 100.0}
FORWARD = {"stage": "forward", "of": "4,096 tokens", "chunks_per_s": 900.0, "tokenize_chunks_per_s": 5000.0}


@pytest.fixture(scope="module")
def gpu() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize(("cpus", "stage"), [(4, "parsing on 4 processors"), (16, "forward passes")])
def test_the_stage_with_the_least_capacity_binds(gpu: dict[str, Any], cpus: int, stage: str) -> None:
    faster = {**FORWARD, "chunks_per_s": 800.0}
    pipeline = {"stage": "pipeline", "of": "2 actors", "chunks_per_s": 300.0}
    said = gpu["binding"]([PARSE, faster, FORWARD, pipeline], cpus)
    assert f"The stage that binds: **{stage}**." in said
    assert "300 (2 actors), " + ("75%" if cpus == 4 else "33%") in said[-1]


def test_without_forward_passes_no_stage_is_named(gpu: dict[str, Any]) -> None:
    out_of_memory = {"stage": "forward", "of": "262,144 tokens: out of memory"}
    assert gpu["binding"]([PARSE, out_of_memory], 4) == ["Too little was measured to name the stage that binds."]


@pytest.mark.slow
def test_a_part_that_fails_or_hangs_is_reported(gpu: dict[str, Any], tmp_path: Path) -> None:
    (failed,) = gpu["run_part"]("unknown", tmp_path, tiny=True, seconds=120)
    assert "failed with exit status 1" in failed["of"] and "KeyError" in failed["of"]
    (stopped,) = gpu["run_part"]("prepare", tmp_path, tiny=True, seconds=0.1)
    assert stopped == {"stage": "prepare", "of": "stopped after 0 s"}


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.long
@pytest.mark.timeout(900)
def test_it_measures_every_stage_on_any_machine(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--tiny", "--work", str(tmp_path), "--json", str(tmp_path / "result.json")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=880)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    measured = {record["stage"] for record in result["records"] if {"chunks_per_s", "pairs_per_s"} & record.keys()}
    assert measured == {"parse", "forward", "rerank", "pipeline"}
    assert "The stage that binds" in done.stdout and "| forward | 4,096 tokens a pass |" in done.stdout

"""The long run of faults in small: a few cycles of fixed seeds, as anyone starts them, interrupted and gone on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.faults.plan import KINDS, draw

REPOSITORY = Path(__file__).parents[2]


def test_a_seed_determines_the_cycle_and_many_seeds_draw_every_fault() -> None:
    plans = [draw(seed) for seed in range(200)]
    assert plans == [draw(seed) for seed in range(200)]
    assert {kind for plan in plans for step in plan.steps for kind in step.kinds} == set(KINDS)
    assert {step.operation for plan in plans for step in plan.steps} >= {
        "sync",
        "index",
        "answer",
        "maintain",
        "repair",
    }
    assert all(step.kinds == {"kill"} for seed in range(50) for step in draw(seed, ["kill"]).steps)


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.timeout(600)
def test_a_few_cycles_survive(tmp_path: Path) -> None:
    kept = tmp_path / "results.jsonl"

    def campaign(cycles: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tools.faults", "--cycles", str(cycles), "--seed", "5", "--json", str(kept)]
        command += ["--folder", str(tmp_path / "work"), "--only", "kill", "edgar", "two"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("EDGAR_", "AWS_"))}
        return subprocess.run(
            command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=280, check=False
        )

    first = campaign(2)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "2 cycles, 2 survived" in first.stdout
    again = campaign(4)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "4 cycles, 4 survived" in again.stdout
    results = [json.loads(line) for line in kept.read_text().splitlines()]
    assert len({result["seed"] for result in results}) == len(results) == 4
    assert any("killed" in said for result in results for said in result["said"])

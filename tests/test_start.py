"""What commands and processes do without: torch and scikit-learn take seconds to import, so none loads them unused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HEAVY = ("sentence_transformers", "sklearn", "torch", "transformers")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Python in a process that dies of an import of such a package, as do the processes that it starts."""
    folder = tmp_path_factory.mktemp("poison")
    for name in HEAVY:
        (folder / f"{name}.py").write_text(f"raise SystemExit('{name} was imported')", encoding="utf-8")
    path = os.pathsep.join([str(folder), str(Path(__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
        )

    assert run("-c", "import torch").stderr == "torch was imported\n"
    return run


def test_importing_loads_no_model_library(python: Run) -> None:
    done = python("-c", "import finray.library, finray.engine, finray.engines.child, finray.api.service")
    assert (done.returncode, done.stderr) == (0, "")


def test_help_loads_no_model_library(python: Run) -> None:
    done = python("-m", "finray.cli", "--help")
    assert done.returncode == 0, done.stderr
    assert "maintain" in done.stdout


def test_neither_ask_nor_its_engine_loads_one(python: Run, sample_index: str) -> None:
    options = ("--set", "encoder.model=hash", "--set", "loop.transform=rules", "--json")
    question = "What was Grevandor Systems' revenue in fiscal 2022?"
    done = python("-m", "finray.cli", "ask", question, "--index", sample_index, *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["value"] == 1_408_729_000

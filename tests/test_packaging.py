"""What holds the project together: locked requirements, license, and the two commands of the README."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def lock() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lock", ROOT / "tools" / "lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_locks_satisfy_the_requirements() -> None:
    checked = subprocess.run(
        [sys.executable, "tools/lock.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


def test_a_lock_that_falls_behind_is_told(lock: ModuleType, tmp_path: Path) -> None:
    pins = tmp_path / "requirements.lock"
    pins.write_text("# head\na_b==1.0\nc>=2\n")
    wanted = [Requirement(text) for text in ("A-b>=1,<2", "a-b>=2", "d")]
    assert lock.unsatisfied(wanted, [pins]) == [
        "requirements.lock: c>=2 is not one exact version",
        "a-b>=2 is locked at 1.0; run `make lock` or `make lock-llm`",
        "d is in no lock; run `make lock` or `make lock-llm`",
    ]


def test_locks_name_no_host_build_or_path() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()[1:]
        for line in lines:
            assert not set("/:+@ ") & set(line), line


def test_torch_is_pinned_alike_everywhere() -> None:
    direct = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    (pin,) = (line for line in direct if line.startswith("torch"))
    assert pin in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()


def test_the_license_is_whole_and_named() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.strip().startswith("GNU AFFERO GENERAL PUBLIC LICENSE")
    for section in range(18):
        assert f"\n  {section}. " in text
    assert "END OF TERMS AND CONDITIONS" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] == "AGPL-3.0-or-later"
    assert "AGPL-3.0-or-later" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("target", ["setup", "demo", "test", "test-slow", "lint", "check", "docs", "docs-site", "lock"])
def test_make_targets_exist(target: str) -> None:
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert planned.returncode == 0, planned.stderr


def test_the_workflow_runs_what_a_developer_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert any(step.get("run") == ".ci/run" for step in job["steps"])
    minutes = [int(found) for found in re.findall(r"^timeout (\d+)m", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)]
    assert sum(minutes) < job["timeout-minutes"]

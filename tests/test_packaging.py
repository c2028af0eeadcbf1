"""What holds the project together: locked requirements, license, and the two commands of the README."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


LOCKS = ("requirements", "requirements-dev", "requirements-llm")


def wanted(name: str) -> list[Requirement]:
    """Requirements of an ``.in`` file and of those that it includes."""
    found = []
    for line in (ROOT / f"{name}.in").read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            found += wanted(line.removeprefix("-r ").removesuffix(".in"))
        elif line.strip() and not line.startswith("#"):
            found.append(Requirement(line))
    return found


def locked(name: str) -> dict[str, str]:
    """Name -> version of every package in a lock. A line of another form than ``name==version`` with hashes fails."""
    pins = {}
    text = (ROOT / f"{name}.lock").read_text(encoding="utf-8")
    for entry in text.replace("\\\n", "").splitlines():
        if entry.startswith("#"):
            continue
        found = re.fullmatch(r"([a-z0-9-]+)==([\w.]+)((?: +--hash=sha256:[0-9a-f]{64})+)", entry)
        assert found, f"{name}.lock: {entry[:100]!r} is no pin with hashes; `make lock` writes them"
        pins[found[1]] = found[2]
    return pins


@pytest.mark.parametrize("name", LOCKS)
def test_locks_satisfy_the_requirements(name: str) -> None:
    pins = locked(name)
    for requirement in wanted(name):
        if requirement.name != "torch":
            version = pins.get(canonicalize_name(requirement.name), "nothing")
            assert version != "nothing", f"{requirement} is not in {name}.lock; run `make lock`"
            assert requirement.specifier.contains(version, prereleases=True), f"{requirement} is locked at {version}"


def test_what_runs_is_what_is_tested() -> None:
    runtime, development = locked("requirements"), locked("requirements-dev")
    assert runtime.items() <= development.items()


def test_torch_has_one_version_and_no_hash() -> None:
    (torch,) = (requirement for requirement in wanted("requirements") if requirement.name == "torch")
    with (ROOT / "pyproject.toml").open("rb") as file:
        uv = tomllib.load(file)["tool"]["uv"]
    assert str(torch) in uv["override-dependencies"]
    assert [f"torch=={known['version']}" for known in uv["dependency-metadata"]] == [str(torch)]
    for name in LOCKS:
        assert not {"torch", "triton", "torchvision"} & locked(name).keys()


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

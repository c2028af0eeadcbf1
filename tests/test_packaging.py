"""What holds the project together: locked requirements, license, and the two commands of the README."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from finray.core.extras import Extra
from tests.edgar.syncer import CONTACT

ROOT = Path(__file__).resolve().parents[1]


LOCKS = ("requirements", "requirements-dev", "requirements-llm", "requirements-vllm")


def project() -> dict[str, Any]:
    settings: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return settings


def wanted(name: str) -> list[Requirement]:
    """Requirements of an ``.in`` file, of those that it includes, and of the extras of finray that it names."""
    found = []
    for line in (ROOT / f"{name}.in").read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            found += wanted(line.removeprefix("-r ").removesuffix(".in"))
        elif line.startswith("."):
            metadata = project()["project"]
            own = [metadata["dependencies"]]
            own += [metadata["optional-dependencies"][extra] for extra in Requirement(f"finray{line[1:]}").extras]
            found += [Requirement(requirement) for group in own for requirement in group]
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


def test_requirements_are_ranges_and_locks_are_exact() -> None:
    metadata = project()["project"]
    named = [metadata["dependencies"], *metadata["optional-dependencies"].values()]
    for requirement in (Requirement(text) for group in named for text in group):
        operators = {specifier.operator for specifier in requirement.specifier}
        assert operators <= {">=", "<"}, f"{requirement}: a range here, the exact version in a lock"
        assert ">=" in operators or requirement.name == "finray", f"{requirement}: since which version?"
    assert {*get_args(Extra)} <= metadata["optional-dependencies"].keys()


WITHOUT = """
import sys
for name in "accelerate datasets edgar fastapi langchain_core llama_index mcp openpyxl starlette uvicorn vllm".split():
    sys.modules[name] = None
"""


def without_extras(code: str) -> subprocess.CompletedProcess[str]:
    """``code`` in a Python without the packages that only extras bring."""
    command = [sys.executable, "-c", WITHOUT + code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_public_api_works_without_extras(sample_index: str) -> None:
    done = without_extras(
        f"""
import finray
settings = finray.load_settings(overrides={{"encoder.model": "hash"}})
with finray.open_index({sample_index!r}, settings) as index:
    print(index.ask("What was Grevandor Systems' revenue in fiscal 2022?").answer)
"""
    )
    assert (done.returncode, done.stdout) == (0, "$1,408.7 million (Grevandor Systems, Inc., FY2022)\n"), done.stderr


@pytest.mark.parametrize(("name", "package"), [("langchain", "langchain_core"), ("llamaindex", "llama_index")])
def test_a_retriever_names_its_extra(name: str, package: str) -> None:
    done = without_extras(f"import finray.integrations.{name}")
    assert f"finray.integrations.{name} needs {package}: pip install 'finray[{name}]'" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_every_module_but_those_of_the_service_imports_without_extras() -> None:
    done = without_extras(
        """
from importlib import import_module
from pkgutil import walk_packages
import finray
service = ("finray.api", "finray.cluster.serve", "finray.mcp", "finray.integrations.l")
for module in walk_packages(finray.__path__, "finray.", onerror=lambda name: None):
    if not module.name.startswith((*service, "finray.cli.__main__")):
        import_module(module.name)
"""
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "needs"),
    [
        (["serve", "--index", "x"], "finray serve needs fastapi: pip install 'finray[serve]'"),
        (["mcp", "--index", "x"], "finray mcp needs mcp: pip install 'finray[mcp]'"),
        pytest.param(
            ["sync", "--raw", "RAW", "--since", "2024-01-01", "--set", f"edgar.contact={CONTACT}"],
            "reading EDGAR needs edgar: pip install 'finray[edgar]'",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["panel", "{company} {year}", "--company", "A", "--years", "2020", "--index", "RAW", "--out", "RAW/a.xlsx"],
            "writing .xlsx needs openpyxl: pip install 'finray[sheets]'",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["serve", "mcp", "sync", "panel"],
)
def test_a_missing_extra_is_named(command: list[str], needs: str, tmp_path: Path) -> None:
    arguments = ["finray", *(word.replace("RAW", str(tmp_path)) for word in command)]
    done = without_extras(f"sys.argv = {arguments!r}\nfrom finray.cli import main\nmain()")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"error: {needs}"


def test_the_wheel_has_every_file_of_the_code() -> None:
    """Files beside the code (weights, presets, the page) are named by pattern; a new kind is easily forgotten."""
    patterns = project()["tool"]["setuptools"]["package-data"]["finray"]
    package = ROOT / "finray"
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    besides = {path for path in package.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert besides and not sorted(besides - packed)


def test_what_runs_is_what_is_tested() -> None:
    runtime, development = locked("requirements"), locked("requirements-dev")
    assert runtime.items() <= development.items()


def test_torch_has_one_version_and_no_hash() -> None:
    in_range, torch = (requirement for requirement in wanted("requirements") if requirement.name == "torch")
    uv = project()["tool"]["uv"]
    (pin,) = torch.specifier
    assert pin.operator == "==" and in_range.specifier.contains(pin.version)
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
    assert project()["project"]["license"] == "AGPL-3.0-or-later"
    assert "AGPL-3.0-or-later" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "target", ["setup", "demo", "test", "test-slow", "test-long", "lint", "check", "docs", "docs-site", "lock"]
)
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

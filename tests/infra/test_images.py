"""The container images, checked without building them."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from fnmatch import fnmatch
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from finray.cli import app
from tests.infra.files import CLUSTER, DEMO, IMAGE, IMAGES, JOBS, MANIFESTS, REPOSITORY


def instructions(path: Path) -> list[tuple[str, str]]:
    """(instruction, arguments) with continued lines joined, without comments."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined.splitlines() if line.strip()]


def seen_by_the_build(name: str) -> bool:
    """Whether .dockerignore includes ``name``, a file or folder at the top level, in the build."""
    shown = True
    for line in (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.strip()
        if pattern and not pattern.startswith("#") and fnmatch(name, pattern.lstrip("!")):
            shown = pattern.startswith("!")
    return shown


@pytest.fixture(params=IMAGES, ids=lambda path: path.stem)
def image(request: pytest.FixtureRequest) -> list[tuple[str, str]]:
    return instructions(request.param)


def test_there_is_an_image_for_cpus_one_for_gpus_and_one_with_vllm() -> None:
    assert [path.stem for path in IMAGES] == ["cpu", "gpu", "llm"]


def lock(image: list[tuple[str, str]]) -> str:
    return "requirements-vllm.lock" if any("VLLM" in arguments for _, arguments in image) else "requirements.lock"


def test_every_source_exists_and_is_in_the_build_context(image: list[tuple[str, str]]) -> None:
    copied = [arguments.split() for name, arguments in image if name == "COPY" and "--from=" not in arguments]
    sources = [source for words in copied for source in words[:-1]]
    assert {"finray", "serve", "jobs", lock(image)} <= set(sources)
    for source in sources:
        assert (REPOSITORY / source).exists(), source
        assert seen_by_the_build(source), source
    for name in (".git", ".venv", "tests", "mine.toml", "filings", ".env", "infra", "docs", "mkdocs.yml", "build"):
        assert not seen_by_the_build(name), name


def test_it_runs_as_an_unprivileged_user(image: list[tuple[str, str]]) -> None:
    users = [arguments for name, arguments in image if name == "USER"]
    assert users
    assert users[-1] not in ("root", "0")


def test_only_pins_are_installed(image: list[tuple[str, str]]) -> None:
    runs = " && ".join(arguments for name, arguments in image if name == "RUN")
    installs = [part for part in runs.split("&&") if "pip install" in part]
    assert any(f"--require-hashes --no-deps -r {lock(image)}" in part for part in installs)
    for part in installs:
        assert "--no-deps" in part or "grep '^torch==' requirements.in" in part, part
    assert "apt-get install" not in runs or "--no-install-recommends" in runs
    assert "rm -rf /var/lib/apt/lists" in runs
    bases = [arguments.split()[0] for name, arguments in image if name == "FROM"]
    assert set(bases) == {"python:3.11-slim-bookworm@${PYTHON_DIGEST}"}
    assert image[0] == ("ARG", "PYTHON_DIGEST")  # without a default: who gives none has no image to build from
    assert project()["requires-python"] == ">=3.11"


def test_it_has_a_health_check_and_no_secret(image: list[tuple[str, str]]) -> None:
    assert any(name == "HEALTHCHECK" and "ray" in arguments for name, arguments in image)
    for name, arguments in image:
        if name in ("ARG", "ENV"):
            assert not re.search(r"SECRET|PASSWORD|TOKEN=|ACCESS_KEY", arguments), arguments
    assert not any(name == "ADD" for name, _ in image)


def test_vllm_has_its_compiler_and_the_ray_of_the_other_images() -> None:
    (llm,) = [instructions(path) for path in IMAGES if path.stem == "llm"]
    installed = next(arguments for name, arguments in llm if name == "RUN" and "apt-get install" in arguments).split()
    assert {"gcc", "libc6-dev"} <= set(installed)
    pins = {name: (REPOSITORY / name).read_text("utf-8") for name in ("requirements.lock", "requirements-vllm.lock")}
    for package in ("ray", "lancedb", "pylance", "pyarrow"):  # one cluster, one index
        found = {re.search(rf"^{package}==(\S+)", text, re.MULTILINE)[1] for text in pins.values()}  # type: ignore[index]
        assert len(found) == 1, f"{package}: {found}"
    (tested,) = [r for r in requires("ray") or [] if r.startswith("vllm") and "llm" in r.partition(";")[2]]
    pinned = re.search(r"^vllm==(\S+)", pins["requirements-vllm.lock"], re.MULTILINE)
    assert pinned is not None
    assert f"=={pinned[1]};" in tested.replace(" ", ""), "the vLLM that this Ray is tested with"


def test_jobs_are_where_the_manifests_look_for_them(image: list[tuple[str, str]]) -> None:
    assert ("COPY", f"jobs {JOBS.rstrip('/')}") in image


def test_the_demo_is_the_cpu_image_that_serves_the_page() -> None:
    demo = instructions(DEMO)
    found = dict(demo)
    (cpu,) = [instructions(path) for path in IMAGES if path.stem == "cpu"]
    assert {name for name, _ in demo} == {"ARG", "FROM", "WORKDIR", "EXPOSE", "HEALTHCHECK", "CMD"}  # nothing is added
    assert demo[0] == ("ARG", f"CPU_IMAGE=finray:{project()['version']}-cpu")
    assert found["FROM"] == "${CPU_IMAGE}"
    home = next(arguments for name, arguments in cpu if name == "RUN" and "--create-home" in arguments)
    assert found["WORKDIR"] == f"/home/{home.split()[-1]}"  # which the user may write
    command = json.loads(found["CMD"])
    assert command[0] == "finray"
    options = get_command(app).commands[command[1]].make_context("demo", command[2:]).params  # type: ignore[attr-defined]
    assert (options["page"], options["host"], options["port"]) == (True, "0.0.0.0", int(found["EXPOSE"]))
    assert f"http://127.0.0.1:{options['port']}/healthz" in found["HEALTHCHECK"]
    assert any("wget" in arguments for name, arguments in cpu if name == "RUN")


def test_make_builds_the_demo_on_the_cpu_image(tmp_path: Path) -> None:
    digests = tmp_path / "digests.env"
    digests.write_text("PYTHON_DIGEST=sha256:0\n", encoding="utf-8")
    make = ["make", "--dry-run", "image-demo", f"DIGESTS={digests}", "IMAGE=registry.test/finray"]
    planned = subprocess.run(make, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    cpu, demo = (line for line in planned.replace("\\\n", "").splitlines() if line.startswith("docker build"))
    tag = f"registry.test/finray:{project()['version']}"
    assert f"-t {tag}-cpu" in cpu
    assert f"--build-arg CPU_IMAGE={tag}-cpu -t {tag}-demo" in demo


def project() -> dict[str, Any]:
    metadata: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    return metadata


def test_manifests_use_only_these_images_at_this_version() -> None:
    version = project()["version"]
    used = [found for path in (*MANIFESTS, CLUSTER) for found in IMAGE.finditer(path.read_text(encoding="utf-8"))]
    assert {found["version"] for found in used} == {version}
    assert {found["kind"] for found in used} == {path.stem for path in IMAGES}
    for path in IMAGES:
        assert f"finray:{version}-{path.stem}" in path.read_text(encoding="utf-8")

"""The container images, checked without building them."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.infra.files import CLUSTER, IMAGE, IMAGES, JOBS, MANIFESTS, REPOSITORY


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


def test_there_is_an_image_for_cpus_and_one_for_gpus() -> None:
    assert [path.stem for path in IMAGES] == ["cpu", "gpu"]


def test_every_source_exists_and_is_in_the_build_context(image: list[tuple[str, str]]) -> None:
    copied = [arguments.split() for name, arguments in image if name == "COPY" and "--from=" not in arguments]
    sources = [source for words in copied for source in words[:-1]]
    assert {"finray", "serve", "jobs", "requirements.lock"} <= set(sources)
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
    assert any("--require-hashes --no-deps -r requirements.lock" in part for part in installs)
    for part in installs:
        assert "--no-deps" in part or "grep '^torch==' requirements.in" in part, part
    assert "apt-get install" not in runs or "--no-install-recommends" in runs
    assert "rm -rf /var/lib/apt/lists" in runs
    bases = [arguments.split()[0] for name, arguments in image if name == "FROM"]
    assert set(bases) == {"python:3.11-slim-bookworm@${PYTHON_DIGEST}"}
    assert image[0] == ("ARG", "PYTHON_DIGEST")  # without a default: who gives none has no image to build from
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["requires-python"] == ">=3.11"


def test_it_has_a_health_check_and_no_secret(image: list[tuple[str, str]]) -> None:
    assert any(name == "HEALTHCHECK" and "ray" in arguments for name, arguments in image)
    for name, arguments in image:
        if name in ("ARG", "ENV"):
            assert not re.search(r"SECRET|PASSWORD|TOKEN=|ACCESS_KEY", arguments), arguments
    assert not any(name == "ADD" for name, _ in image)


def test_jobs_are_where_the_manifests_look_for_them(image: list[tuple[str, str]]) -> None:
    assert ("COPY", f"jobs {JOBS.rstrip('/')}") in image


def test_manifests_use_only_these_images_at_this_version() -> None:
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    used = [found for path in (*MANIFESTS, CLUSTER) for found in IMAGE.finditer(path.read_text(encoding="utf-8"))]
    assert {found["version"] for found in used} == {version}
    assert {found["kind"] for found in used} == {path.stem for path in IMAGES}
    for path in IMAGES:
        assert f"finray:{version}-{path.stem}" in path.read_text(encoding="utf-8")

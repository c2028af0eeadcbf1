"""Images by digest: `make image-digests`, `make image-cpu` and `make pin-images`, with a fake docker."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.infra.files import INFRA, REPOSITORY, documents, values
from tools.image_digests import main

DOCKER = """#!/bin/sh
case "$*" in
  *gone*) echo "ERROR: $4: not found" >&2; exit 1;;
  *odd*) echo '"latest"';;
  "build "*) echo "$@" > "$BUILD";;
  *) printf '"sha256:%s"\\n' "$(printf '%s' "$4" | sha256sum | cut -d ' ' -f 1)";;
esac
"""


def digest(reference: str) -> str:
    return f"sha256:{hashlib.sha256(reference.encode()).hexdigest()}"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of infra/, and a fake docker on the PATH that has a digest of every image."""
    shutil.copytree(INFRA, tmp_path / "infra")
    (tmp_path / "bin").mkdir()
    docker = tmp_path / "bin" / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{docker.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("BUILD", str(tmp_path / "built"))
    return tmp_path


def test_base_images(root: Path) -> None:
    assert main(["bases"], root) == 0
    written = (root / "infra/images/digests.env").read_text()
    assert written == f"PYTHON_DIGEST={digest('python:3.11-slim-bookworm')}\n"


def test_a_build_requires_the_digests(root: Path) -> None:
    make = ["make", "-C", str(REPOSITORY), "image-cpu", f"DIGESTS={root / 'infra/images/digests.env'}"]
    refused = subprocess.run(make, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "make image-digests" in refused.stderr
    assert not (root / "built").exists()
    main(["bases"], root)
    subprocess.run([*make, "IMAGE=registry.test/finray", "TORCH_INDEX=ADDRESS"], capture_output=True, check=True)
    words = (root / "built").read_text().split()
    assert f"PYTHON_DIGEST={digest('python:3.11-slim-bookworm')}" in words
    assert "TORCH_INDEX=ADDRESS" in words
    assert "registry.test/finray:0.1.0-cpu" in words


def test_every_image_of_the_manifests(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifests = [*(root / "infra/kubernetes").rglob("*.yaml"), root / "infra/aws/cluster.yaml"]
    before = {path: [str(image) for d in documents(path) for image in images(d)] for path in manifests}
    assert main(["check"], root) == 1
    said = capsys.readouterr().err
    assert "serve.yaml: registry.example.com/finray:0.1.0-cpu has no digest" in said
    assert "sync-cronjob.yaml: registry.k8s.io/kubectl" in said
    for _ in range(2):  # again, to take what is newer
        assert main(["manifests"], root) == 0
        for path in manifests:
            assert [i for d in documents(path) for i in images(d)] == [f"{i}@{digest(i)}" for i in before[path]]
    assert sum(map(len, before.values())) > 20
    assert main(["check"], root) == 0


def images(document: object) -> list[str]:
    return [*values(document, "image"), *values(document, "worker_image")]


@pytest.mark.parametrize(("reference", "said"), [("gone:1", "gone:1: not found"), ("odd:1", "docker printed 'latest'")])
def test_a_missing_digest_changes_no_file(root: Path, reference: str, said: str) -> None:
    path = root / "infra/kubernetes/serve.yaml"
    text = path.read_text().replace("registry.example.com/finray:0.1.0-cpu", reference)
    path.write_text(text)
    with pytest.raises(SystemExit, match=f"no digest of {reference}: .*{said}"):
        main(["manifests"], root)
    assert path.read_text() == text

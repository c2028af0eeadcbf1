"""The files of infra/, parsed for tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[2]
INFRA = REPOSITORY / "infra"
MANIFESTS = sorted((INFRA / "kubernetes").rglob("*.yaml"))
NOT_FOR_THE_CLUSTER = {"kustomization.yaml", "kuberay-values.yaml", "patch.yaml"}
DEMO = INFRA / "images" / "demo.Dockerfile"
"""The CPU image with another command."""
IMAGES = sorted({*(INFRA / "images").glob("*.Dockerfile")} - {DEMO})
POLICIES = sorted((INFRA / "aws" / "policies").glob("*.json"))
CLUSTER = INFRA / "aws" / "cluster.yaml"
JOBS = "/opt/finray/jobs/"
IMAGE = re.compile(r"registry\.example\.com/finray:(?P<version>[^-]+)-(?P<kind>cpu|gpu|llm)")


def documents(path: Path) -> list[dict[str, Any]]:
    return parsed(path.read_text(encoding="utf-8"))


@cache
def parsed(text: str) -> list[dict[str, Any]]:
    """The documents of ``text``, for reading only: whoever parses the same text gets the same ones."""
    return [document for document in yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if document]


def resources() -> list[tuple[str, dict[str, Any]]]:
    """(file and kind, document) of everything for the Kubernetes API."""
    return [
        (f"{path.name}:{document['kind']}:{document['metadata'].get('name', '')}", document)
        for path in MANIFESTS
        if path.name not in NOT_FOR_THE_CLUSTER
        for document in documents(path)
    ]


def walk(node: Any) -> Iterator[dict[str, Any]]:
    """Every mapping within ``node``, including itself."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def values(node: Any, name: str) -> list[Any]:
    return [mapping[name] for mapping in walk(node) if name in mapping]


def ray_clusters() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for name, document in resources():
        for key in ("rayClusterSpec", "rayClusterConfig"):
            found += [(name, cluster) for cluster in values(document, key)]
    return found


def pods(node: Any) -> list[dict[str, Any]]:
    """Pod specs: mappings with containers."""
    return [mapping for mapping in walk(node) if "containers" in mapping]


def entry_points() -> list[tuple[str, list[str]]]:
    """(resource, words) of every job that a manifest starts."""
    found = []
    for name, document in resources():
        found += [(name, shlex.split(entry)) for entry in values(document, "entrypoint")]
        found += [(name, command) for command in values(document, "command") if command[0] == "python"]
    return found


def commands() -> list[tuple[str, list[str]]]:
    """(resource, words) of every command of finray that a manifest starts."""
    return [(name, command) for name, d in resources() for command in values(d, "command") if command[0] == "finray"]


def locked(package: str) -> str:
    """The version of ``package`` in requirements.lock."""
    lock = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(package)}==(\S+) ", lock, re.MULTILINE)
    assert found, f"{package} is not in requirements.lock"
    return found[1]

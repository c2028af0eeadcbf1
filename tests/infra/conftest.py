from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

Schemas = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture(scope="session")
def custom_resources(shared_data: Path) -> Schemas:
    """The schema of each (kind, version) of KubeRay; tests are skipped if it is missing."""
    folder = shared_data / "kuberay"
    if not folder.is_dir():
        pytest.skip(f"no custom resource definitions of KubeRay at {folder}")
    # They are megabytes long: in Python alone reading them takes half a minute.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    definitions = [yaml.load(path.read_bytes(), loader) for path in sorted(folder.glob("*.yaml"))]
    return {
        (definition["spec"]["names"]["kind"], f"ray.io/{version['name']}"): version["schema"]["openAPIV3Schema"]
        for definition in definitions
        for version in definition["spec"]["versions"]
    }

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from finray.cluster.runtime import ray_cluster
from finray.core.settings import Settings, load_settings
from finray.index.job.in_process import index_in_process
from finray.lab.sample.broken import write_broken_files
from finray.lab.sample.generate import generate_sample
from tools.faults.contents import Contents, read_contents


@pytest.fixture(scope="module")
def local_ray() -> Iterator[None]:
    with ray_cluster(num_cpus=2):
        yield


@pytest.fixture(scope="session")
def settings() -> Settings:
    """An encoder without weights, and commits small enough to interrupt a run between them."""
    return load_settings(overrides={"encoder.model": "hash", "index.write_rows": 20}, environment={})


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dozen fictional filings and a few broken files."""
    folder = tmp_path_factory.mktemp("sample")
    generate_sample(folder, companies=2, years=2, seed=5, questions=1, workers=1)
    broken = folder / "broken"
    write_broken_files(broken)
    for name in ("zero-bytes.pdf", "encrypted.pdf", "recipe.txt", "scanned.pdf"):
        shutil.copyfile(broken / name, folder / "filings" / name)
    return folder / "filings"


@pytest.fixture(scope="session")
def expected(corpus: Path, settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """The rows of an uninterrupted run over ``corpus``, without Ray."""
    uri = str(tmp_path_factory.mktemp("expected"))
    index_in_process([str(corpus)], uri, settings)
    return read_contents(uri)

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.core.settings import Settings, load_settings
from finray.index.job.in_process import index_in_process
from finray.index.job.parser_process import ParserProcess
from finray.index.job.summary import IndexSummary
from finray.lab.sample.generate import generate_sample

Index = Callable[..., IndexSummary]


@pytest.fixture(scope="session")
def settings() -> Settings:
    return load_settings(overrides={"encoder.model": "hash"}, environment={})


@pytest.fixture(scope="session")
def sample_filings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a dozen fictional filings; not to be changed."""
    folder = tmp_path_factory.mktemp("sample")
    generate_sample(folder, companies=1, years=2, seed=3, questions=1, workers=1)
    return folder / "filings"


@pytest.fixture(scope="session")
def index(settings: Settings) -> Iterator[Index]:
    """``index_in_process`` with one parser process for all tests: each takes seconds to start."""
    parser = ParserProcess(settings.filings, settings.chunks)

    def run(sources: Sequence[Path | str], uri: str, **options: Any) -> IndexSummary:
        return index_in_process([str(source) for source in sources], uri, settings, parser=parser, **options)

    yield run
    parser.close()


@pytest.fixture
def corpus(sample_filings: Path, tmp_path: Path) -> Path:
    """A copy of the sample's filings, free to be changed."""
    return Path(shutil.copytree(sample_filings, tmp_path / "corpus"))

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.index import layout, schema
from finray.index.in_process import index_in_process
from finray.index.parser_process import ParserProcess
from finray.index.summary import IndexSummary
from finray.sample.generate import generate_sample
from finray.settings import Settings, load_settings

Index = Callable[..., IndexSummary]
Contents = dict[str, list[dict[str, Any]]]
_TIMES = {"indexed_at", "at", "source_modified", "digest"}
_ORDER = {
    schema.FILINGS: ["filing_id"],
    schema.PAGES: ["filing_id", "page"],
    schema.CHUNKS: ["filing_id", "page", "start"],
    schema.FACTS: ["filing_id", "page", "row", "column", "label", "text"],
    schema.SOURCES: ["source_uri"],
    schema.FAILURES: ["source_uri"],
}


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


@pytest.fixture(scope="session")
def contents() -> Callable[[str], Contents]:
    """Every row of every table of an index, in a fixed order, without the times of the run."""

    def read(uri: str) -> Contents:
        found = {}
        for name, order in _ORDER.items():
            table = layout.open_table(uri, name).to_table()
            keep = [column for column in table.column_names if column not in _TIMES]
            rows = table.sort_by([(column, "ascending") for column in order]).select(keep).to_pylist()
            # The part after the dash names the run.
            found[name] = [
                row | {"revision": row["revision"].partition("-")[0]} if "revision" in row else row for row in rows
            ]
        return found

    return read

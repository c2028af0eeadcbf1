from __future__ import annotations

from pathlib import Path

import pytest

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings
from finray.filings.read import parse_filing
from finray.lab.sample.broken import BrokenFile, write_broken_files


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[BrokenFile, ...]]:
    folder = tmp_path_factory.mktemp("broken")
    return folder, write_broken_files(folder)


def outcome(path: Path) -> tuple[str | None, str | None]:
    try:
        parse_filing(path.read_bytes(), path.as_posix(), FilingSettings())
    except FilingError as error:
        return error.stage, error.reason
    return None, None


def test_each_file_gives_its_expected_result(broken: tuple[Path, tuple[BrokenFile, ...]]) -> None:
    folder, files = broken
    assert {file.name: outcome(folder / file.name) for file in files} == {
        file.name: (file.stage, file.reason) for file in files
    }


def test_the_same_files_are_written_every_time(broken: tuple[Path, tuple[BrokenFile, ...]], tmp_path: Path) -> None:
    folder, files = broken
    assert write_broken_files(tmp_path) == files
    encrypted = "encrypted.pdf"  # its key is random by design
    assert all(
        (tmp_path / file.name).read_bytes() == (folder / file.name).read_bytes()
        for file in files
        if file.name != encrypted
    )

from __future__ import annotations

from pathlib import Path

import pytest

from finray.errors import FilingError
from finray.filings.read import parse_filing
from finray.sample.broken import BrokenFile, broken_files
from finray.settings import FilingSettings


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[BrokenFile, ...]]:
    folder = tmp_path_factory.mktemp("broken")
    return folder, broken_files(folder)


def test_each_file_comes_to_what_is_said_of_it(broken: tuple[Path, tuple[BrokenFile, ...]]) -> None:
    folder, files = broken
    found: dict[str, tuple[str | None, str | None]] = {}
    for file in files:
        try:
            parse_filing((folder / file.name).read_bytes(), str(folder / file.name), FilingSettings())
            found[file.name] = (None, None)
        except FilingError as error:
            found[file.name] = (error.stage, error.reason)
    assert found == {file.name: (file.stage, file.reason) for file in files}


def test_the_same_files_are_written_every_time(broken: tuple[Path, tuple[BrokenFile, ...]], tmp_path: Path) -> None:
    folder, files = broken
    assert broken_files(tmp_path) == files
    encrypted = "encrypted.pdf"  # its key is random by design
    assert all((tmp_path / file.name).read_bytes() == (folder / file.name).read_bytes()
               for file in files if file.name != encrypted)

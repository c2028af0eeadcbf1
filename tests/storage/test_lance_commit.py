"""Errors of Lance, as finray raises them."""

from __future__ import annotations

from pathlib import Path

import lance
import pyarrow as pa
import pytest

from finray.core.errors import SourceError
from finray.storage.lance_commit import append, create_table, open_latest, panics_as_errors, write_uncommitted


class PanicException(BaseException):
    """As PyO3 names what it raises when Rust panics."""


def test_a_panic_of_lance_is_an_error_that_can_be_caught() -> None:
    with pytest.raises(OSError, match="range start"), panics_as_errors():
        raise PanicException("range start must not be greater than end")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_anything_else_passes(error: type[BaseException]) -> None:
    with pytest.raises(error), panics_as_errors():
        raise error


@pytest.fixture
def where(tmp_path: Path) -> str:
    create_table(str(tmp_path / "numbers.lance"), pa.schema({"number": pa.int64()}))
    return str(tmp_path / "numbers.lance")


def test_rows_are_appended_once_however_often_the_step_is_repeated(where: str) -> None:
    """As on S3 if the reply to a commit that succeeded is lost."""
    fragments = write_uncommitted(open_latest(where), pa.table({"number": [1, 2]}))
    assert open_latest(where).count_rows() == 0
    step = append(fragments)
    step(open_latest(where))
    lance.write_dataset(pa.table({"number": [3]}), where, mode="append")  # a commit of someone else
    step(open_latest(where))
    assert sorted(open_latest(where).to_table()["number"].to_pylist()) == [1, 2, 3]


def test_files_that_another_machine_wrote_to_its_own_disk_are_refused(where: str) -> None:
    table = open_latest(where)
    fragments = write_uncommitted(table, pa.table({"number": [1]}))
    Path(where, "data", fragments[0].files[0].path).unlink()
    with pytest.raises(SourceError, match="in a folder that they share"):
        append(fragments)(open_latest(where))
    assert open_latest(where).version == table.version

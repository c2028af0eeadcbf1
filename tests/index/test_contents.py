"""Two indexes of the same filings hold the same; one row less, and the difference is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from finray.core.errors import IndexMissingError
from finray.index import layout, schema
from tests.index.conftest import Index
from tools.faults.contents import differences, read_contents


def test_the_same_filings_in_another_folder_at_another_time_are_the_same_rows(
    corpus: Path, sample_filings: Path, tmp_path: Path, index: Index
) -> None:
    index([corpus], str(tmp_path / "one"))
    index([sample_filings], str(tmp_path / "other"))
    one, other = read_contents(str(tmp_path / "one")), read_contents(str(tmp_path / "other"))
    assert one == other
    assert differences(one, other) == []
    assert sum(one[schema.PAGES].values()) == layout.open_table(str(tmp_path / "one"), schema.PAGES).count_rows() > 0


def test_a_row_more_or_less_and_another_value_are_named(corpus: Path, tmp_path: Path, index: Index) -> None:
    uri = str(tmp_path / "index")
    index([corpus], uri)
    before = read_contents(uri)
    layout.open_table(uri, schema.PAGES).delete("page = 1")
    layout.open_table(uri, schema.FILINGS).update({"company": "'Somebody Else'"}, where="true")
    lines = differences(before, read_contents(uri))
    filings = sum(before[schema.FILINGS].values())
    assert sum(line.startswith("pages: lacks ") for line in lines) >= 1
    assert sum(line.startswith("filings: lacks ") for line in lines) == filings
    assert sum(line.startswith("filings: has besides ") for line in lines) == filings


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError, match="no index"):
        read_contents(str(tmp_path))

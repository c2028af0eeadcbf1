"""Damage of each kind is found and repaired, and a rerun restores the index."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pytest

from finray.core.errors import IndexDamagedError, IndexMissingError
from finray.index import layout, schema
from finray.index.tables import maintenance
from finray.index.tables.search_indexes import _CHECKSUMS
from finray.index.upkeep.check import check_index, repair_index
from finray.index.upkeep.maintain import index_statistics
from finray.index.writing.writer import claim
from tests.index.conftest import Index
from tools.faults.contents import Contents, read_contents


@pytest.fixture(scope="module")
def sound(sample_filings: Path, index: Index, tmp_path_factory: pytest.TempPathFactory) -> str:
    uri = str(tmp_path_factory.mktemp("sound") / "index")
    some = sorted(sample_filings.iterdir())
    index(some[:3], uri)
    index(some[:6], uri)  # so that every table has several fragments
    return uri


@pytest.fixture(scope="module")
def sound_contents(sound: str) -> Contents:
    assert kinds(sound, deep=True) == set()
    return read_contents(sound)


@pytest.fixture
def uri(sound: str, tmp_path: Path) -> str:
    return str(shutil.copytree(sound, tmp_path / "index"))


def kinds(uri: str, *, deep: bool = False) -> set[str]:
    return {finding.kind for finding in check_index(uri, deep=deep)}


def first_filing(uri: str) -> str:
    return str(layout.open_table(uri, schema.FILINGS).to_table(columns=["filing_id"])["filing_id"][0].as_py())


def lose_rows(uri: str) -> None:
    layout.open_table(uri, schema.CHUNKS).delete(f"filing_id = '{first_filing(uri)}' AND page = 0")


def surplus_rows(uri: str) -> None:
    table = layout.open_table(uri, schema.FACTS)
    rows = table.to_table(filter=f"filing_id = '{first_filing(uri)}'")
    lance.write_dataset(rows, layout.table_uri(uri, schema.FACTS), mode="append")


def orphan_rows(uri: str) -> None:
    layout.open_table(uri, schema.FILINGS).delete(f"filing_id = '{first_filing(uri)}'")


def compensated(uri: str) -> None:
    """As many rows too many as too few: a count of all sees nothing."""
    table = layout.open_table(uri, schema.PAGES)
    page = table.to_table(filter=f"filing_id = '{first_filing(uri)}' AND page = 0")
    table.delete(f"filing_id = '{first_filing(uri)}' AND page = 0")
    changed = page.set_column(0, page.schema.field(0), pa.array(["nobody"] * page.num_rows))
    lance.write_dataset(changed, layout.table_uri(uri, schema.PAGES), mode="append")


def filing_twice(uri: str) -> None:
    rows = layout.open_table(uri, schema.FILINGS).to_table(filter=f"filing_id = '{first_filing(uri)}'")
    lance.write_dataset(rows, layout.table_uri(uri, schema.FILINGS), mode="append")


def wrong_text(uri: str) -> None:
    layout.open_table(uri, schema.CHUNKS).update({"text": "'another text'"}, f"filing_id = '{first_filing(uri)}'")


def wrong_vector(uri: str) -> None:
    table = layout.open_table(uri, schema.PAGES)
    rows = table.to_table(filter=f"filing_id = '{first_filing(uri)}'")
    size = rows["vector"].type.list_size
    long = pa.FixedSizeListArray.from_arrays(pa.array(np.full(rows.num_rows * size, 9.0, np.float32)), size)
    table.delete(f"filing_id = '{first_filing(uri)}'")
    rows = rows.set_column(rows.schema.names.index("vector"), rows.schema.field("vector"), long)
    lance.write_dataset(rows, layout.table_uri(uri, schema.PAGES), mode="append")


def unreadable_checksums(uri: str) -> None:
    layout.note(uri, schema.PAGES, {_CHECKSUMS: '{"page_data.lance": [481, "d7\x13'})


def corrupt_fragment(name: str) -> Callable[[str], None]:
    def corrupt(uri: str) -> None:
        files = sorted(Path(layout.table_uri(uri, name), "data").glob("*.lance"), key=lambda path: path.stat().st_mtime)
        content = files[0].read_bytes()
        files[0].write_bytes(content[: len(content) // 2])

    corrupt.__name__ = f"corrupt_fragment_of_{name}"
    return corrupt


DAMAGE: list[tuple[Callable[[str], None], str]] = [
    (lose_rows, "rows_missing"),
    (surplus_rows, "rows_surplus"),
    (orphan_rows, "orphan_rows"),
    (compensated, "rows_missing"),
    (filing_twice, "filing_twice"),
    (wrong_text, "chunk_text"),
    (wrong_vector, "vector_length"),
    (unreadable_checksums, "search_index"),
    *((corrupt_fragment(name), "unreadable") for name in (schema.CHUNKS, schema.PAGES, schema.FILINGS, schema.SOURCES)),
]


@pytest.mark.parametrize(("damage", "kind"), DAMAGE, ids=[damage.__name__ for damage, _ in DAMAGE])
def test_damage_is_found_and_repaired_and_a_rerun_gives_the_same_index(
    uri: str, sound_contents: Contents, sample_filings: Path, index: Index,
    damage: Callable[[str], None], kind: str,
) -> None:  # fmt: skip
    damage(uri)
    assert kind in kinds(uri, deep=True)
    claim(uri)
    repair_index(uri)
    assert kinds(uri, deep=True) <= {"source_unknown"}
    index(sorted(sample_filings.iterdir())[:6], uri)
    assert kinds(uri, deep=True) == set()
    assert read_contents(uri) == sound_contents


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError):
        check_index(str(tmp_path))
    with pytest.raises(IndexMissingError):
        index_statistics(str(tmp_path))


def test_statistics_say_what_there_is(uri: str) -> None:
    said = index_statistics(uri)
    assert sum(said.filings.values()) == said.tables[schema.FILINGS].rows == 6
    assert said.companies == 1
    assert said.first is None or said.first <= (said.last or "")
    assert said.tables[schema.CHUNKS].search_indexes.keys() == {"filing_id_idx", "text_idx"}
    assert said.tables[schema.CHUNKS].unindexed_rows == 0
    assert said.bytes > 10_000


def test_statistics_of_a_damaged_index_name_the_repair(uri: str) -> None:
    corrupt_fragment(schema.FILINGS)(uri)
    with pytest.raises(IndexDamagedError, match="--deep --repair"):
        index_statistics(uri)


def test_a_reader_keeps_its_version_while_the_index_is_tidied(uri: str, settings: Any) -> None:
    table = layout.open_table(uri, schema.CHUNKS)
    rows = table.to_table().num_rows
    lose_rows(uri)
    maintenance.sweep(uri, thorough=True)
    maintenance.tidy(uri, settings.index)
    assert table.to_table().num_rows == rows
    assert layout.open_table(uri, schema.CHUNKS).count_rows() < rows

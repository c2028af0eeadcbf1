"""Upkeep of an index: compaction, clean-up, search indexes; and its size and contents before and after."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from finray.core.settings import Settings
from finray.index import layout, schema
from finray.index.tables import ann, maintenance, search_indexes
from finray.index.writing.writer import claim
from finray.storage.locations import list_objects


@dataclass(frozen=True, slots=True)
class TableStatistics:
    """``unindexed_rows`` are not yet covered by a search index, so searches scan them; ``bytes`` is the size on disk or
    S3 with old versions."""

    rows: int
    fragments: int
    deleted_rows: int
    versions: int
    search_indexes: Mapping[str, str]
    unindexed_rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class IndexStatistics:
    """``tables`` by name; ``filings`` by form; ``first`` and ``last`` are ISO filing dates, None if unknown."""

    tables: Mapping[str, TableStatistics]
    filings: Mapping[str, int]
    companies: int
    first: str | None
    last: str | None

    @property
    def bytes(self) -> int:
        return sum(table.bytes for table in self.tables.values())


@dataclass(frozen=True, slots=True)
class Upkeep:
    """``ann`` has a report on each approximate vector index; a table without one is searched exactly."""

    before: IndexStatistics
    after: IndexStatistics
    seconds: float
    ann: tuple[ann.AnnReport, ...]


def maintain(index: str, settings: Settings) -> Upkeep:
    """Tidy the index and remove what killed jobs left. Takes the index over: an index job that writes to it stops at
    its next commit.

    Raises IndexMissingError.
    """
    layout.read_record(index)
    started, before = time.monotonic(), index_statistics(index)
    token = claim(index)
    maintenance.sweep(index, thorough=True)
    maintenance.sweep_files(index, token)
    done = maintenance.tidy(index, settings.index)
    vectors = tuple(ann.measure(index, name, settings.index, action) for name, action in done.items())
    for name in done:
        search_indexes.note_checksums(index, name)
    return Upkeep(before, index_statistics(index), time.monotonic() - started, vectors)


def index_statistics(uri: str) -> IndexStatistics:
    """Size and contents of the index. Raises IndexMissingError, and IndexDamagedError if a table cannot be read."""
    layout.read_record(uri)
    filings = layout.read_table(uri, schema.FILINGS, columns=["form", "cik", "company", "filed_at"])
    forms = filings["form"].value_counts().to_pylist()
    dates = pc.min_max(filings["filed_at"]).as_py()
    return IndexStatistics(
        tables={name: _table(uri, name) for name in schema.table_schemas(1)},
        filings=dict(sorted((row["values"], row["counts"]) for row in forms)),
        companies=_companies(filings["cik"].to_pylist(), filings["company"].to_pylist()),
        first=dates["min"].isoformat() if dates["min"] else None,
        last=dates["max"].isoformat() if dates["max"] else None,
    )


def _companies(ciks: Sequence[str | None], names: Sequence[str]) -> int:
    """Number of companies: different CIKs, and names of filings without a CIK (PDFs) that no filing with one has."""
    named = {name.lower() for cik, name in zip(ciks, names, strict=True) if cik}
    unnamed = {name.lower() for cik, name in zip(ciks, names, strict=True) if not cik}
    return len({cik for cik in ciks if cik}) + len(unnamed - named)


def _table(uri: str, name: str) -> TableStatistics:
    table = layout.open_table(uri, name)
    indexes = {index.name: index.index_type for index in table.describe_indices()}
    fragments = table.get_fragments()
    return TableStatistics(
        rows=table.count_rows(),
        fragments=len(fragments),
        deleted_rows=sum(fragment.num_deletions for fragment in fragments),
        versions=len(table.versions()),
        search_indexes=indexes,
        unindexed_rows=max((table.stats.index_stats(i)["num_unindexed_rows"] for i in indexes), default=0),
        bytes=sum(file.size for file in list_objects(layout.table_uri(uri, name))),
    )

"""Writes filings into data files of the child tables: the first of two phases, on any worker.

Data files belong to the worker that writes them until the index's one committer (``finray.index.writing.writer``)
makes them part of the tables. No reader sees them before, so a worker that dies leaves only files, which ``maintain``
removes, and a repeated call writes other files.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from lance.fragment import FragmentMetadata

from finray.index import layout, schema
from finray.index.tables import digest, maintenance
from finray.index.writing.bundle import FilingBundle
from finray.storage.lance_commit import write_uncommitted

Key = tuple[str, str]
"""(filing id, revision)"""


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """An index, and the claim of the committer that will commit what is written."""

    uri: str
    claim: str


@dataclass(frozen=True, slots=True)
class WrittenFilings:
    """Rows of ``filings``, and for each child table the data files with the rows of all these filings."""

    filings: pa.Table
    fragments: Mapping[str, Sequence[FragmentMetadata]]

    @property
    def keys(self) -> list[Key]:
        columns = (self.filings[name].to_pylist() for name in ("filing_id", "revision"))
        return list(zip(*columns, strict=True))


def write_filings(target: WriteTarget, filings: Sequence[tuple[FilingBundle, dt.datetime]]) -> WrittenFilings:
    """Write encoded filings, each with the time when its file was modified.

    Their revision identifies this call, so that rows of an earlier one are never taken for rows of this one. Raises
    SourceError.
    """
    write = uuid.uuid4().hex
    bundles = [
        (bundle, modified, maintenance.revision_by(bundle.revision, target.claim, write))
        for bundle, modified in filings
    ]
    vector = bundles[0][0].vector
    assert vector is not None, "encode first"
    schemas = schema.table_schemas(len(vector))
    fragments: dict[str, Sequence[FragmentMetadata]] = {}
    for name in schema.CHILDREN:
        tables = [_with_revision(getattr(bundle, name), revision) for bundle, _, revision in bundles]
        rows = [table.cast(schemas[name]) for table in tables if table.num_rows]
        if rows:
            write_rows = partial(write_uncommitted, rows=pa.concat_tables(rows))
            fragments[name] = layout.write_dataset(target.uri, name, write_rows)
    covers = [_filing_row(bundle, modified, revision, schemas) for bundle, modified, revision in bundles]
    return WrittenFilings(pa.concat_tables(covers), fragments)


def _with_revision(table: pa.Table, revision: str) -> pa.Table:
    place = table.schema.get_field_index("revision")
    return table.set_column(place, "revision", pa.repeat(pa.scalar(revision), table.num_rows))


def _filing_row(
    bundle: FilingBundle, modified: dt.datetime, revision: str, schemas: Mapping[str, pa.Schema]
) -> pa.Table:
    """The row of a filing as a table, with a digest that covers its child rows."""
    values = {
        **schema.filing_row(bundle.filing),
        "revision": revision,
        "source_modified": modified,
        "n_pages": bundle.pages.num_rows,
        "n_chunks": bundle.chunks.num_rows,
        "n_tables": bundle.tables.num_rows,
        "n_facts": bundle.facts.num_rows,
        "status": " ".join(bundle.filing.marks) or "indexed",
        "indexed_at": dt.datetime.now(dt.UTC),
        "summary": bundle.summary,
        "vector": bundle.vector,
        digest.COLUMN: None,
    }
    row = pa.Table.from_pylist([values], schemas[schema.FILINGS])
    children = {name: getattr(bundle, name).cast(schemas[name]) for name in schema.CHILDREN}
    return replaced(row, digest.COLUMN, digest.filing_digest(row, children))


def replaced(row: pa.Table, column: str, value: str | None) -> pa.Table:
    """``row`` with another text in ``column``."""
    place = row.schema.get_field_index(column)
    return row.set_column(place, row.schema.field(column), pa.array([value], pa.string()))

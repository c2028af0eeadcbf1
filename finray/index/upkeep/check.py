"""Check the consistency of an index's tables, and repair them.

A filing with inconsistent rows is removed whole; the next index run reads its file again. Lost rows are never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from pathlib import PurePosixPath
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from finray.core.errors import IndexDamagedError
from finray.index import layout, schema
from finray.index.tables import digest, maintenance, search_indexes
from finray.storage.lance_commit import create_table, panics_as_errors
from finray.storage.locations import delete, join, lance_storage_options, list_objects

_UNOPENED: tuple[type[Exception], ...] = (IndexDamagedError, *layout.UNREADABLE)
_FILINGS_AT_ONCE = 100
_LENGTH_TOLERANCE = 0.02
"""Vectors come from bf16 arithmetic."""
_REMOVES_FILING = ("chunk_text", "vector_length", "digest")
"""Kinds of findings that are repaired by removing the filing."""
_STALE = {"source_dangling": schema.SOURCES, "failure_forgotten": schema.SOURCES, "failure_mended": schema.FAILURES}
"""Kinds of findings that are repaired by deleting the row of a file: the table that has the row."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``kind`` is a short stable name for counting; ``where`` a filing id, URI or table; ``detail`` one line."""

    kind: str
    where: str
    detail: str


def check_index(uri: str, *, deep: bool = False) -> list[Finding]:
    """Problems of the index at ``uri``; ``deep`` reads every value. Raises IndexMissingError.

    Kinds: ``unreadable``, ``search_index``, ``rows_missing``, ``rows_surplus``, ``orphan_rows``, ``filing_twice``,
    ``source_unknown``, ``source_dangling``, ``failure_mended``, ``failure_forgotten``, and with ``deep``
    ``chunk_text``, ``vector_length``, ``digest``. After a finding of one of the first two kinds the check stops.
    """
    layout.read_record(uri)
    names = list(schema.table_schemas(1))
    if unreadable := [finding for name in names for finding in _unreadable(uri, name, deep=deep)]:
        return unreadable
    if damaged := [
        Finding("search_index", name, f"{index}: {problem}")
        for name in names
        for index, problem in search_indexes.damaged(uri, name, deep=deep)
    ]:
        return damaged
    rows = _filing_rows(uri, *schema.COUNT_COLUMNS.values())
    findings = [*_duplicates(rows), *_counts(uri, rows), *_sources(uri, rows)]
    if deep:
        findings += _contents(uri, [row["filing_id"] for row in rows])
    return findings


def repair_index(uri: str) -> None:
    """Drop unreadable fragments and damaged search indexes, then inconsistent filings and rows; rebuild the search
    indexes.

    Call ``roll_back`` first, so that every table can be opened, and claim the index (finray.index.writing.writer), so
    that no job writes meanwhile.
    """
    for name in schema.table_schemas(1):
        _drop_unreadable(uri, name)
        for index, _ in list(search_indexes.damaged(uri, name, deep=True)):
            layout.write_table(uri, name, methodcaller("drop_index", index))
    twice = [schema.is_filing(finding.where) for finding in _duplicates(_filing_rows(uri))]
    maintenance.remove(uri, schema.BY_FILING, twice)
    maintenance.sweep(uri, thorough=True)
    wrong = {finding.where for finding in check_index(uri, deep=True) if finding.kind in _REMOVES_FILING}
    maintenance.remove(uri, schema.BY_FILING, [schema.is_filing(filing_id) for filing_id in sorted(wrong)])
    stale = list(_sources(uri, _filing_rows(uri)))
    for kind, name in _STALE.items():
        uris = [finding.where for finding in stale if finding.kind == kind]
        maintenance.remove(uri, [name], [schema.is_source(source_uri) for source_uri in uris])
    maintenance.build_search_indexes(uri)


def roll_back(uri: str) -> None:
    """Delete the newest versions of a table until one can be opened; create an empty table if none can.

    ``repair_index`` then makes the tables consistent.
    """
    for name, table_schema in schema.table_schemas(layout.read_record(uri).dimension).items():
        location = layout.table_uri(uri, name)
        while not _opens(uri, name):
            files = [file.uri for file in list_objects(join(location, "_versions"))]
            manifests = [file for file in files if file.endswith(".manifest")]
            if not manifests:
                create_table(location, table_schema)
                break
            for file in (max(manifests, key=_version), *(set(files) - set(manifests))):
                delete(file)


def _opens(uri: str, name: str) -> bool:
    try:
        layout.open_table(uri, name)
    except IndexDamagedError:
        return False
    return True


def _unreadable(uri: str, name: str, *, deep: bool) -> Iterator[Finding]:
    try:
        with panics_as_errors():
            table = layout.open_table(uri, name)
            table.validate()
    except _UNOPENED as error:
        cause = error.__cause__ if isinstance(error, IndexDamagedError) else error
        yield Finding("unreadable", name, str(cause).splitlines()[0])
        return
    for fragment in _bad_fragments(table, deep=deep):
        yield Finding("unreadable", name, f"fragment {fragment.fragment_id} cannot be read")


def _bad_fragments(table: Any, *, deep: bool) -> list[Any]:
    """Fragments that cannot be read. Without ``deep``, only the first column is tried."""
    columns = None if deep else [table.schema.names[0]]
    bad = []
    for fragment in table.get_fragments():
        try:
            with panics_as_errors():
                for batch in fragment.to_batches(columns=columns):
                    batch.validate(full=True)  # also finds invalid UTF-8
        except layout.UNREADABLE:
            bad.append(fragment)
    return bad


def _version(manifest: str) -> int:
    """The version in the name of a manifest: Lance counts down from 2**64 - 1; an older scheme counts up."""
    number = int(PurePosixPath(manifest).stem)
    return 2**64 - 1 - number if number >= 2**63 else number


def _drop_unreadable(uri: str, name: str) -> None:
    table = layout.open_table(uri, name)
    bad = [fragment.fragment_id for fragment in _bad_fragments(table, deep=True)]
    if bad:
        operation = lance.LanceOperation.Delete([], bad, "unreadable")
        options = lance_storage_options(uri) or None
        location = layout.table_uri(uri, name)
        lance.LanceDataset.commit(location, operation, read_version=table.version, storage_options=options)


def _filing_rows(uri: str, *columns: str) -> list[dict[str, Any]]:
    names = ["filing_id", "revision", "source_uri", *columns]
    rows: list[dict[str, Any]] = layout.read_table(uri, schema.FILINGS, columns=names).to_pylist()
    return rows


def _duplicates(rows: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    for filing_id, count in Counter(row["filing_id"] for row in rows).items():
        if count > 1:
            yield Finding("filing_twice", filing_id, f"{count} rows in filings")


def _counts(uri: str, rows: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    for name in schema.CHILDREN:
        expected = {(row["filing_id"], row["revision"]): row[schema.COUNT_COLUMNS[name]] for row in rows}
        found = maintenance.rows_by_revision(layout.open_table(uri, name))
        for key, count in expected.items():
            if found[key] != count:
                kind = "rows_missing" if found[key] < count else "rows_surplus"
                yield Finding(kind, key[0], f"{name}: {found[key]} rows instead of {count}")
        for key, count in found.items():
            if key not in expected:
                yield Finding("orphan_rows", key[0], f"{name}: {count} rows of a content that the filing does not have")


def _sources(uri: str, rows: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    filing_ids = {row["filing_id"] for row in rows}
    columns = ["source_uri", "filing_id", "outcome"]
    sources = {row["source_uri"]: row for row in layout.read_table(uri, schema.SOURCES, columns=columns).to_pylist()}
    failures = set(layout.read_table(uri, schema.FAILURES, columns=["source_uri"])["source_uri"].to_pylist())
    for row in rows:
        if row["source_uri"] not in sources:
            yield Finding("source_unknown", row["filing_id"], f"{row['source_uri']} is not recorded; it is read again")
    for source_uri, row in sources.items():
        filing_id, outcome = row["filing_id"], row["outcome"]
        if filing_id is not None and filing_id not in filing_ids:
            yield Finding("source_dangling", source_uri, f"recorded as {outcome}, but {filing_id} is not in the index")
        if outcome == "indexed" and source_uri in failures:
            yield Finding("failure_mended", source_uri, "recorded as failed, but indexed since")
        if outcome == "failed" and source_uri not in failures:
            yield Finding("failure_forgotten", source_uri, "recorded as failed, without a reason; it is read again")


def _contents(uri: str, filing_ids: Sequence[str]) -> Iterator[Finding]:
    """Findings in the values: chunks that differ from their page, vectors of neither unit nor zero length, filings that
    differ from what was written."""
    for start in range(0, len(filing_ids), _FILINGS_AT_ONCE):
        some = f"filing_id IN ({schema.literals(filing_ids[start : start + _FILINGS_AT_ONCE])})"
        tables = {name: layout.read_table(uri, name, filter=some) for name in schema.CHILDREN}
        for name in (schema.PAGES, schema.CHUNKS):
            yield from _vector_lengths(name, tables[name])
        yield from _chunk_texts(tables[schema.PAGES], tables[schema.CHUNKS])
        yield from _digests(layout.read_table(uri, schema.FILINGS, filter=some), tables)


def _chunk_texts(pages: pa.Table, chunks: pa.Table) -> Iterator[Finding]:
    place = ["filing_id", "revision", "page"]
    texts = {
        (filing_id, revision, page): text for filing_id, revision, page, text in _rows(pages.select([*place, "text"]))
    }
    wrong = Counter(
        filing_id
        for filing_id, revision, page, start, end, text in _rows(chunks.select([*place, "start", "end", "text"]))
        if texts.get((filing_id, revision, page), "")[start:end] != text
    )
    for filing_id, count in wrong.items():
        yield Finding("chunk_text", filing_id, f"{count} chunks differ from the text of their page")


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _digests(filings: pa.Table, children: Mapping[str, pa.Table]) -> Iterator[Finding]:
    """Filings that differ from their digest. Those of an older finray have none and are skipped."""
    if digest.COLUMN not in filings.column_names:
        return
    for number, noted in enumerate(filings[digest.COLUMN].to_pylist()):
        if noted is None:
            continue
        row = filings.slice(number, 1)
        key = [row[column][0] for column in ("filing_id", "revision")]
        own = {
            name: table.filter(pc.and_(pc.equal(table["filing_id"], key[0]), pc.equal(table["revision"], key[1])))
            for name, table in children.items()
        }
        if digest.filing_digest(row, own) != noted:
            yield Finding("digest", key[0].as_py(), "its rows differ from those that were written")


def _vector_lengths(name: str, table: pa.Table) -> Iterator[Finding]:
    with np.errstate(over="ignore", invalid="ignore"):  # damaged values may be any number
        lengths = np.linalg.norm(schema.vectors_matrix(table["vector"]), axis=1)
    wrong = ~((np.abs(lengths - 1) < _LENGTH_TOLERANCE) | (lengths == 0))
    ids = np.asarray(table["filing_id"].to_pylist())[wrong]
    for filing_id, count in Counter(ids.tolist()).items():
        yield Finding("vector_length", filing_id, f"{name}: {count} vectors are not of unit length")

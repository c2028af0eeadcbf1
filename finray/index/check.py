"""Hold the tables of an index against each other, and mend what does not agree.

A filing whose rows do not agree is taken out of the index whole; the next index run reads its file again. Nothing here
guesses what a lost row said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from finray.core.errors import IndexDamagedError
from finray.index import digest, layout, maintenance, schema, search_indexes
from finray.storage.locations import delete, join, lance_storage_options, list_objects

_FILINGS_AT_ONCE = 100
_UNIT_LENGTH = 0.02
"""How far the length of a vector may be from 1: bf16 arithmetic."""
_OF_A_FILING = ("chunk_text", "vector_length", "digest")
"""Kinds of findings that take a filing out of the index."""
_STALE = {"source_dangling": schema.SOURCES, "failure_forgotten": schema.SOURCES, "failure_mended": schema.FAILURES}
"""Kinds of findings that are mended by forgetting a file -> the table that forgets it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``kind`` is a short stable name for counting; ``where`` a filing id, URI or table; ``detail`` one line."""

    kind: str
    where: str
    detail: str


def check_index(uri: str, *, deep: bool = False) -> list[Finding]:
    """What is wrong with the index at ``uri``; ``deep`` reads every value. Raises IndexMissingError.

    Kinds: ``unreadable``, ``search_index``, ``rows_missing``, ``rows_surplus``, ``orphan_rows``, ``filing_twice``,
    ``source_unknown``, ``source_dangling``, ``failure_mended``, ``failure_forgotten``, and with ``deep``
    ``chunk_text``, ``vector_length``, ``digest``. Where there is one of the first two kinds nothing else is looked for:
    what cannot be read, or searched, tells nothing.
    """
    layout.read_record(uri)
    unreadable = [finding for name in schema.table_schemas(1) for finding in _unreadable(uri, name, deep=deep)]
    if unreadable:
        return unreadable
    searching = [finding for name in schema.table_schemas(1) for finding in _search_indexes(uri, name, deep=deep)]
    if searching:
        return searching
    filings = layout.open_table(uri, schema.FILINGS).to_table(
        columns=["filing_id", "revision", "source_uri", *schema.COUNT_COLUMNS.values()]
    )
    rows = filings.to_pylist()
    findings = [*_twice(rows), *_counts(uri, rows), *_sources(uri, rows)]
    if deep:
        findings += _contents(uri, [row["filing_id"] for row in rows])
    return findings


def repair_index(uri: str) -> None:
    """Drop fragments that cannot be read and search indexes that are damaged, then every filing and row that does not
    agree with the others; build the search indexes anew.

    The caller has gone back to versions that can be opened, with ``roll_back``, and claimed the index
    (finray.index.writer), so that no job writes meanwhile.
    """
    for name in schema.table_schemas(1):
        _drop_unreadable(uri, name)
        search_indexes.drop(uri, name, [index for index, _ in search_indexes.damaged(uri, name, deep=True)])
    table = layout.open_table(uri, schema.FILINGS)
    twice = [f.where for f in _twice(table.to_table(columns=["filing_id"]).to_pylist())]
    maintenance.remove_filings(uri, twice)
    maintenance.sweep(uri, thorough=True)
    wrong = {f.where for f in check_index(uri, deep=True) if f.kind in _OF_A_FILING}
    maintenance.remove_filings(uri, sorted(wrong))
    rows = layout.open_table(uri, schema.FILINGS).to_table(columns=["filing_id", "revision", "source_uri"]).to_pylist()
    stale = _sources(uri, rows)
    for kind, name in _STALE.items():
        maintenance.remove_sources(uri, name, [finding.where for finding in stale if finding.kind == kind])
    maintenance.build_search_indexes(uri)


def roll_back(uri: str) -> None:
    """Forget versions of tables that cannot be opened, the newest first; an empty table where none can. What the tables
    then hold too much or too little of is found by ``repair_index``, which holds them against each other."""
    for name, table_schema in schema.table_schemas(layout.read_record(uri).dimension).items():
        _roll_back(uri, name, table_schema)


def _unreadable(uri: str, name: str, *, deep: bool) -> Iterator[Finding]:
    try:
        table = layout.open_table(uri, name)
        table.validate()
    except IndexDamagedError as error:
        yield Finding("unreadable", name, str(error.__cause__).splitlines()[0])
        return
    except layout.UNREADABLE as error:
        yield Finding("unreadable", name, str(error).splitlines()[0])
        return
    for fragment in _bad_fragments(table, deep=deep):
        yield Finding("unreadable", name, f"fragment {fragment.fragment_id} cannot be read")


def _search_indexes(uri: str, name: str, *, deep: bool) -> Iterator[Finding]:
    for index, wrong in search_indexes.damaged(uri, name, deep=deep):
        yield Finding("search_index", name, f"{index}: {wrong}")


def _bad_fragments(table: Any, *, deep: bool) -> list[Any]:
    """Fragments that cannot be read: all columns if ``deep``, else the first one."""
    columns = None if deep else [table.schema.names[0]]
    bad = []
    for fragment in table.get_fragments():
        try:
            for batch in fragment.to_batches(columns=columns):
                batch.validate(full=True)  # text that is none
        except layout.UNREADABLE:
            bad.append(fragment)
    return bad


def _roll_back(uri: str, name: str, table_schema: pa.Schema) -> None:
    versions = join(layout.table_uri(uri, name), "_versions")
    while True:
        try:
            layout.open_table(uri, name)
        except IndexDamagedError:
            files = [file.uri for file in list_objects(versions)]
            manifests = [file for file in files if file.endswith(".manifest")]
            if not manifests:
                layout.create_table(uri, name, table_schema)
                return
            for file in (max(manifests, key=_version), *(file for file in files if not file.endswith(".manifest"))):
                delete(file)
        else:
            return


def _version(manifest: str) -> int:
    """The version that a manifest's name stands for: Lance counts down from 2**64 - 1, or in an older scheme up."""
    number = int(PurePosixPath(manifest).stem)
    return 2**64 - 1 - number if number >= 2**63 else number


def _drop_unreadable(uri: str, name: str) -> None:
    table = layout.open_table(uri, name)
    bad = [fragment.fragment_id for fragment in _bad_fragments(table, deep=True)]
    if bad:
        operation = lance.LanceOperation.Delete([], bad, "unreadable")
        lance.LanceDataset.commit(
            layout.table_uri(uri, name),
            operation,
            read_version=table.version,
            storage_options=lance_storage_options(uri) or None,
        )


def _twice(rows: Sequence[dict[str, Any]]) -> list[Finding]:
    counts = Counter(row["filing_id"] for row in rows)
    return [
        Finding("filing_twice", filing_id, f"{count} rows in filings")
        for filing_id, count in counts.items()
        if count > 1
    ]


def _counts(uri: str, rows: Sequence[dict[str, Any]]) -> list[Finding]:
    findings = []
    for name in schema.CHILDREN:
        expected = {(row["filing_id"], row["revision"]): row[schema.COUNT_COLUMNS[name]] for row in rows}
        found = maintenance.rows_by_revision(layout.open_table(uri, name))
        for key, count in expected.items():
            if found.get(key, 0) != count:
                kind = "rows_missing" if found.get(key, 0) < count else "rows_surplus"
                findings.append(Finding(kind, key[0], f"{name}: {found.get(key, 0)} rows instead of {count}"))
        findings += [
            Finding("orphan_rows", key[0], f"{name}: {count} rows of a content that the filing does not have")
            for key, count in found.items()
            if key not in expected
        ]
    return findings


def _sources(uri: str, rows: Sequence[dict[str, Any]]) -> list[Finding]:
    known = {row["filing_id"] for row in rows}
    columns = ["source_uri", "filing_id", "outcome"]
    sources = {row["source_uri"]: row for row in layout.open_table(uri, schema.SOURCES).to_table(columns).to_pylist()}
    findings = [
        Finding("source_unknown", row["filing_id"], f"{row['source_uri']} is not noted; it is read again")
        for row in rows
        if row["source_uri"] not in sources
    ]
    findings += [
        Finding("source_dangling", source_uri, f"noted as {row['outcome']}, but {row['filing_id']} is not in the index")
        for source_uri, row in sources.items()
        if row["filing_id"] is not None and row["filing_id"] not in known
    ]
    failures = set(layout.open_table(uri, schema.FAILURES).to_table(["source_uri"])["source_uri"].to_pylist())
    findings += [
        Finding("failure_mended", source_uri, "noted as failed, and indexed since")
        for source_uri in failures
        if source_uri in sources and sources[source_uri]["outcome"] == "indexed"
    ]
    findings += [
        Finding("failure_forgotten", source_uri, "noted as failed, and nobody knows why; it is read again")
        for source_uri, row in sources.items()
        if row["outcome"] == "failed" and source_uri not in failures
    ]
    return findings


def _contents(uri: str, filing_ids: Sequence[str]) -> Iterator[Finding]:
    """Chunks that are not what their page says, vectors that are not of unit length (or zero, without text), filings
    that are not as they were written."""
    for start in range(0, len(filing_ids), _FILINGS_AT_ONCE):
        some = f"filing_id IN ({schema.literals(filing_ids[start : start + _FILINGS_AT_ONCE])})"
        tables = {name: layout.open_table(uri, name).to_table(filter=some) for name in schema.CHILDREN}
        for name in (schema.PAGES, schema.CHUNKS):
            yield from _lengths(name, tables[name])
        yield from _chunk_texts(tables[schema.PAGES], tables[schema.CHUNKS])
        yield from _digests(layout.open_table(uri, schema.FILINGS).to_table(filter=some), tables)


def _chunk_texts(pages: pa.Table, chunks: pa.Table) -> Iterator[Finding]:
    place = ("filing_id", "revision", "page")
    texts = dict(zip(zip(*(pages[c].to_pylist() for c in place), strict=True), pages["text"].to_pylist(), strict=True))
    keys = zip(*(chunks[column].to_pylist() for column in place), strict=True)
    spans = zip(*(chunks[column].to_pylist() for column in ("start", "end", "text")), strict=True)
    wrong = Counter(
        key[0] for key, (first, last, text) in zip(keys, spans, strict=True) if texts.get(key, "")[first:last] != text
    )
    for filing_id, count in wrong.items():
        yield Finding("chunk_text", filing_id, f"{count} chunks are not what their page says")


def _digests(filings: pa.Table, children: Mapping[str, pa.Table]) -> Iterator[Finding]:
    """Filings of an older finray have no digest: nothing can be said of them."""
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
            yield Finding("digest", key[0].as_py(), "its rows are not those that were written")


def _lengths(name: str, table: pa.Table) -> Iterator[Finding]:
    vectors = table["vector"].combine_chunks()
    if not len(vectors):
        return
    with np.errstate(over="ignore", invalid="ignore"):  # any number may stand there
        lengths = np.linalg.norm(np.asarray(vectors.flatten()).reshape(len(vectors), -1), axis=1)
    wrong = ~((np.abs(lengths - 1) < _UNIT_LENGTH) | (lengths == 0))
    ids = np.asarray(table["filing_id"].to_pylist())[wrong]
    for filing_id, count in Counter(ids.tolist()).items():
        yield Finding("vector_length", filing_id, f"{name}: {count} vectors are not of unit length")

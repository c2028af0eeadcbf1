"""Keeping the tables in order: sweep what a killed run left, build and refresh indexes, compact, drop old
versions."""

from __future__ import annotations

import datetime as dt
import itertools
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow.compute as pc

from finray.core.settings import IndexSettings
from finray.index import ann, layout, schema, search_indexes

KEEP_VERSIONS = dt.timedelta(days=1)
"""How long an open reader can rely on the version it has pinned, from the moment that another replaces it."""
CLAIM = "finray.writer"
"""Key of the ``filings`` table's configuration: the claim of the writer that has the index."""
_SMALL_FRAGMENTS = 4
"""Past this many fragments a table is compacted."""
_TEXT_INDEXES = (schema.CHUNKS, schema.PAGES)
_NAMES_AT_ONCE = 500
_NEVER = dt.timedelta(days=36_500)
_BEGAN, _BEGAN_MONOTONIC = dt.datetime.now(dt.UTC), time.monotonic()


def sweep(uri: str, *, thorough: bool = False) -> None:
    """Make the tables agree: delete child rows that no filing owns, and filings that lack child rows.

    The latter can only come from two writers at once; their files are indexed again. Rows of the writer that has the
    index now are spared: it may be about to commit them. Costs a count of rows where all is well; ``thorough`` looks at
    every filing, whatever the counts add up to.
    """
    table = layout.open_table(uri, schema.FILINGS)
    with layout.reading(uri, schema.FILINGS):
        filings = table.to_table(columns=["filing_id", "revision", *schema.COUNT_COLUMNS.values()])
    keys = list(zip(filings["filing_id"].to_pylist(), filings["revision"].to_pylist(), strict=True))
    damaged: set[tuple[str, str]] = set()
    for name in schema.CHILDREN:
        table = layout.open_table(uri, name)
        column = filings[schema.COUNT_COLUMNS[name]]
        if not thorough and table.count_rows() == (pc.sum(column).as_py() or 0):
            continue
        expected = dict(zip(keys, column.to_pylist(), strict=True))
        with layout.reading(uri, name):
            found = rows_by_revision(table)
        # Asked after the rows were read: whoever wrote them had claimed the index before.
        claim = layout.open_table(uri, schema.FILINGS).config().get(CLAIM, "")
        orphans = [key for key in found if key not in expected and not _written_by(key[1], claim)]
        damaged |= {key for key, rows in expected.items() if found.get(key, 0) != rows}
        _delete_each(uri, name, [_is(*key) for key in orphans])
    remove_revisions(uri, sorted(damaged))


def revision_by(content_revision: str, claim: str) -> str:
    """The revision of rows of a content that the writer with this claim writes."""
    return f"{content_revision}-{claim[:8]}"


def _written_by(revision: str, claim: str) -> bool:
    return revision.partition("-")[2] == claim[:8] != ""


def remove_filings(uri: str, filing_ids: Sequence[str]) -> None:
    """Take filings out of the index with all their rows: the filing's own first, as it makes the others count."""
    _delete_each(uri, schema.FILINGS, [_is(filing_id) for filing_id in filing_ids])
    delete_children(uri, filing_ids, [])


def remove_revisions(uri: str, revisions: Sequence[tuple[str, str]]) -> None:
    """Take these (filing id, revision) out of the index, whatever other revisions the filings have."""
    for name in (schema.FILINGS, *schema.CHILDREN):
        _delete_each(uri, name, [_is(*key) for key in revisions])


def remove_rows(uri: str, name: str, revisions: Sequence[tuple[str, str]]) -> None:
    """Delete the rows of these (filing id, revision) from one table."""
    _delete_each(uri, name, [_is(*key) for key in revisions])


def remove_sources(uri: str, name: str, source_uris: Sequence[str]) -> None:
    """Forget what ``sources`` or ``failures`` (``name``) says of these files."""
    _delete_each(uri, name, [f"source_uri = {schema.literals([source_uri])}" for source_uri in source_uris])


def delete_children(uri: str, gone: Sequence[str], replaced: Sequence[tuple[str, str]]) -> None:
    """Delete all child rows of the filings ``gone``, and of ``replaced`` those of another than the given
    revision."""
    clauses = [_is(filing_id) for filing_id in gone]
    clauses += [f"({_is(filing_id)} AND revision != {schema.literals([keep])})" for filing_id, keep in replaced]
    for name in schema.CHILDREN:
        _delete_each(uri, name, clauses)


def tidy(uri: str, settings: IndexSettings) -> ann.AnnReport | None:
    """Compact tables of many small fragments, cover all rows by the indexes, and drop versions that are too
    old for any reader. Does nothing to a table that is in order. Returns what is to be said of an approximate vector
    index that it has built."""
    built = None
    for name in schema.table_schemas(1):
        layout.write_table(uri, name, partial(_tidy, uri, name))
        if name == schema.CHUNKS:
            built = ann.build_if_due(uri, settings)
        search_indexes.note_checksums(uri, name)
    return built


def build_search_indexes(uri: str) -> None:
    """Build those that are missing, and cover all rows; not the approximate one of vectors, which search can do without
    until the next index run."""
    for name in schema.CHILDREN:
        layout.write_table(uri, name, partial(_index, uri, name))
        search_indexes.note_checksums(uri, name)


def _tidy(uri: str, name: str, table: Any) -> None:
    version = table.version
    if len(table.get_fragments()) > _SMALL_FRAGMENTS or _deleted_rows(table):
        table.optimize.compact_files()
    if name in schema.CHILDREN:
        _index(uri, name, layout.open_table(uri, name))
    latest = layout.open_table(uri, name)
    expired = expired_versions(latest.versions(), _now())
    if expired:
        latest.cleanup_old_versions(versions=expired)
    if latest.version != version:
        latest.cleanup_old_versions(older_than=_NEVER)  # what a write that was killed left, a week after


def _index(uri: str, name: str, table: Any) -> None:
    if not table.count_rows():
        return
    existing = {index.name for index in table.describe_indices()}
    with layout.reading(uri, name):
        behind = any(table.stats.index_stats(index)["num_unindexed_rows"] for index in existing)
    if "filing_id_idx" not in existing:
        table.create_scalar_index("filing_id", "BTREE", name="filing_id_idx")
    if name in _TEXT_INDEXES and "text_idx" not in existing:
        table.create_scalar_index("text", "INVERTED", name="text_idx", with_position=False)
    if behind:
        table.optimize.optimize_indices()


def rows_by_revision(table: Any) -> Counter[tuple[str, str]]:
    """How many rows of a child table belong to each (filing_id, revision)."""
    found: Counter[tuple[str, str]] = Counter()
    for batch in table.to_batches(columns=["filing_id", "revision"]):
        found.update(zip(batch["filing_id"].to_pylist(), batch["revision"].to_pylist(), strict=True))
    return found


def _deleted_rows(table: Any) -> bool:
    return any(fragment.num_deletions for fragment in table.get_fragments())


def expired_versions(versions: Sequence[Mapping[str, Any]], now: dt.datetime) -> list[int]:
    """Of a table's ``versions`` (as Lance lists them) those that were replaced longer than ``KEEP_VERSIONS`` ago.

    How old a version itself is says nothing: the newest may be years old when the run replaces it, and be open in every
    reader. A version counts as replaced no earlier than any before it: a clock may have been set back.
    """
    ordered = sorted(versions, key=lambda version: int(version["version"]))
    made = list(itertools.accumulate((version["timestamp"].astimezone(dt.UTC) for version in ordered), max))
    return [int(v["version"]) for v, replaced in zip(ordered, made[1:], strict=False) if replaced < now - KEEP_VERSIONS]


def _now() -> dt.datetime:
    """The time by the clock as it was when this process began: it may have been set since."""
    return _BEGAN + dt.timedelta(seconds=time.monotonic() - _BEGAN_MONOTONIC)


def _is(filing_id: str, revision: str | None = None) -> str:
    clause = f"filing_id = {schema.literals([filing_id])}"
    return clause if revision is None else f"({clause} AND revision = {schema.literals([revision])})"


def _delete_each(uri: str, name: str, clauses: Sequence[str]) -> None:
    for start in range(0, len(clauses), _NAMES_AT_ONCE):
        some = " OR ".join(clauses[start : start + _NAMES_AT_ONCE])
        layout.write_table(uri, name, partial(_delete, some))


def _delete(clause: str, table: Any) -> None:
    table.delete(clause)

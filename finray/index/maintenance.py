"""Maintain the tables: remove what a killed run left, build and refresh indexes, compact, drop old versions."""

from __future__ import annotations

import datetime as dt
import itertools
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from operator import methodcaller
from typing import Any

import pyarrow.compute as pc

from finray.core.settings import IndexSettings
from finray.index import ann, layout, schema, search_indexes

KEEP_VERSIONS = dt.timedelta(days=1)
"""How long a pinned version stays readable after a newer one replaces it."""
CLAIM = "finray.writer"
"""Key in the configuration of ``filings``: the token of the writer that owns the index."""
_MAX_FRAGMENTS = 4
"""A table with more is compacted."""
_TEXT_INDEXES = (schema.CHUNKS, schema.PAGES)
_CLAUSES_PER_DELETE = 500
_NEVER = dt.timedelta(days=36_500)
_BEGAN, _BEGAN_MONOTONIC = dt.datetime.now(dt.UTC), time.monotonic()


def sweep(uri: str, *, thorough: bool = False) -> None:
    """Make the tables consistent: delete child rows without a filing, and filings that lack child rows.

    The latter can only come from two writers at once; the next run indexes their files again. Rows of the index's
    current writer stay: it may be about to commit them. If the row counts agree, nothing else is read; ``thorough``
    compares every filing anyway.
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
        # Read after the rows: their writer had claimed the index before it wrote them.
        claim = layout.open_table(uri, schema.FILINGS).config().get(CLAIM, "")
        orphans = [key for key in found if key not in expected and not _written_by(key[1], claim)]
        damaged |= {key for key, rows in expected.items() if found.get(key, 0) != rows}
        remove_rows(uri, name, orphans)
    remove_revisions(uri, sorted(damaged))


def revision_by(content_revision: str, claim: str) -> str:
    """The revision of a content's rows that the writer with this claim writes."""
    return f"{content_revision}-{claim[:8]}"


def _written_by(revision: str, claim: str) -> bool:
    return revision.partition("-")[2] == claim[:8] != ""


def remove_filings(uri: str, filing_ids: Sequence[str]) -> None:
    """Remove filings with all their rows; the filing's own row, which makes the others count, goes first."""
    _delete_each(uri, schema.FILINGS, [_is_filing(filing_id) for filing_id in filing_ids])
    delete_children(uri, filing_ids, [])


def remove_revisions(uri: str, revisions: Sequence[tuple[str, str]]) -> None:
    """Remove all rows of these (filing id, revision); other revisions of the filings stay."""
    for name in (schema.FILINGS, *schema.CHILDREN):
        remove_rows(uri, name, revisions)


def remove_rows(uri: str, name: str, revisions: Sequence[tuple[str, str]]) -> None:
    """Delete rows of these (filing id, revision) from one table."""
    _delete_each(uri, name, [is_revision(*key) for key in revisions])


def remove_sources(uri: str, name: str, source_uris: Sequence[str]) -> None:
    """Delete the rows of these files from ``sources`` or ``failures`` (``name``)."""
    _delete_each(uri, name, [f"source_uri = {schema.literals([source_uri])}" for source_uri in source_uris])


def delete_children(uri: str, gone: Sequence[str], replaced: Sequence[tuple[str, str]]) -> None:
    """Delete all child rows of the filings ``gone``, and those of ``replaced`` with another than the given revision."""
    clauses = [_is_filing(filing_id) for filing_id in gone]
    clauses += [f"({_is_filing(filing_id)} AND revision != {schema.literals([keep])})" for filing_id, keep in replaced]
    for name in schema.CHILDREN:
        _delete_each(uri, name, clauses)


def tidy(uri: str, settings: IndexSettings) -> ann.AnnReport | None:
    """Compact fragmented tables, bring search indexes up to date, and drop versions too old for any reader.

    Does nothing to a table that needs nothing. Returns a report if it has built an approximate vector index.
    """
    built = None
    for name in schema.table_schemas(1):
        layout.write_table(uri, name, partial(_tidy, uri, name))
        if name == schema.CHUNKS:
            built = ann.build_if_due(uri, settings)
        search_indexes.note_checksums(uri, name)
    return built


def build_search_indexes(uri: str) -> None:
    """Build missing search indexes and update the others, except the approximate vector index: search is exact until
    the next index run builds it."""
    for name in schema.CHILDREN:
        layout.write_table(uri, name, partial(_update_indexes, uri, name))
        search_indexes.note_checksums(uri, name)


def _tidy(uri: str, name: str, table: Any) -> None:
    version = table.version
    fragments = table.get_fragments()
    if len(fragments) > _MAX_FRAGMENTS or any(fragment.num_deletions for fragment in fragments):
        table.optimize.compact_files()
    if name in schema.CHILDREN:
        _update_indexes(uri, name, layout.open_table(uri, name))
    latest = layout.open_table(uri, name)
    expired = expired_versions(latest.versions(), _now())
    if expired:
        latest.cleanup_old_versions(versions=expired)
    if latest.version != version:
        latest.cleanup_old_versions(older_than=_NEVER)  # week-old files of killed writes


def _update_indexes(uri: str, name: str, table: Any) -> None:
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
    """Number of rows of a child table or extension for each (filing_id, revision)."""
    found: Counter[tuple[str, str]] = Counter()
    for batch in table.to_batches(columns=["filing_id", "revision"]):
        found.update(zip(batch["filing_id"].to_pylist(), batch["revision"].to_pylist(), strict=True))
    return found


def expired_versions(versions: Sequence[Mapping[str, Any]], now: dt.datetime) -> list[int]:
    """Versions of a table (as Lance lists them) that were replaced more than ``KEEP_VERSIONS`` ago.

    The age of a version itself does not matter: the newest may be years old when a run replaces it, and be open in
    every reader. If the clock was set back, a version counts as replaced no earlier than those before it.
    """
    ordered = sorted(versions, key=lambda version: int(version["version"]))
    made = list(itertools.accumulate((version["timestamp"].astimezone(dt.UTC) for version in ordered), max))
    return [int(v["version"]) for v, replaced in zip(ordered, made[1:], strict=False) if replaced < now - KEEP_VERSIONS]


def _now() -> dt.datetime:
    """The time, unaffected by changes of the clock since this process began."""
    return _BEGAN + dt.timedelta(seconds=time.monotonic() - _BEGAN_MONOTONIC)


def _is_filing(filing_id: str) -> str:
    return f"filing_id = {schema.literals([filing_id])}"


def is_revision(filing_id: str, revision: str) -> str:
    """SQL condition for the rows of one revision of a filing."""
    return f"({_is_filing(filing_id)} AND revision = {schema.literals([revision])})"


def _delete_each(uri: str, name: str, clauses: Sequence[str]) -> None:
    for start in range(0, len(clauses), _CLAUSES_PER_DELETE):
        some = " OR ".join(clauses[start : start + _CLAUSES_PER_DELETE])
        layout.write_table(uri, name, methodcaller("delete", some))

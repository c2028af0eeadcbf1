"""Maintains the tables: removes what killed runs left, has LanceDB compact them and update their search indexes, drops
old versions."""

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
from finray.index import layout, schema
from finray.index.tables import ann, search_indexes
from finray.storage.lance_commit import data_files, optimize
from finray.storage.locations import delete, join, list_objects

KEEP_VERSIONS = dt.timedelta(days=1)
"""A pinned version stays readable for this long after a newer one replaces it."""
CLAIM = "finray.writer"
"""Key in the configuration of ``filings``: the token of the writer that owns the index."""
_BEGAN, _BEGAN_MONOTONIC = dt.datetime.now(dt.UTC), time.monotonic()


def sweep(uri: str, *, thorough: bool = False) -> None:
    """Make the tables consistent: delete child rows without a filing, and filings that lack child rows.

    The latter can only come from two writers at once; the next run indexes their files again. Rows of the index's
    current writer stay: it may be about to commit them. If the row counts agree, nothing else is read; ``thorough``
    compares every filing anyway.
    """
    filings = layout.read_table(uri, schema.FILINGS, columns=["filing_id", "revision", *schema.COUNT_COLUMNS.values()])
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
        claim = current_claim(uri)
        orphans = [key for key in found if key not in expected and not _written_by(key[1], claim)]
        damaged |= {key for key, rows in expected.items() if found.get(key, 0) != rows}
        remove(uri, [name], [schema.is_revision(*key) for key in orphans])
    remove(uri, schema.BY_FILING, [schema.is_revision(*key) for key in sorted(damaged)])


def sweep_files(uri: str, claim: str) -> None:
    """Delete data files of the child tables that no version refers to: those of killed workers, and of writers that the
    holder of this ``claim`` has overtaken.

    A file that is about to be committed must not go. A writer that has been overtaken commits either to a version that
    it opened before the table was restored here (to its present state), which is a conflict, or to a later one, after
    which it notices the claim. Files of a writer that claims the index after the listing are not in it.
    """
    for name in schema.CHILDREN:
        folder = join(layout.table_uri(uri, name), "data")
        listed = {file.uri.rpartition("/")[2] for file in list_objects(folder)}
        if current_claim(uri) != claim:
            return
        if listed <= _referenced(uri, name):
            continue
        layout.write_dataset(uri, name, methodcaller("restore"))
        for file in sorted(listed - _referenced(uri, name)):
            delete(join(folder, file))


def _referenced(uri: str, name: str) -> set[str]:
    """Data files that any version of a table refers to."""
    table = layout.open_table(uri, name)
    with layout.reading(uri, name):
        return set().union(*(data_files(table.checkout_version(one["version"])) for one in table.versions()))


def current_claim(uri: str) -> str:
    """The claim of the index's writer; "" if there was none yet."""
    return str(layout.open_table(uri, schema.FILINGS).config().get(CLAIM, ""))


def revision_by(content_revision: str, claim: str, write: str) -> str:
    """The revision of rows with this content from one ``write`` (a random name) of the writer with this claim."""
    return f"{content_revision}-{claim[:8]}-{write[:8]}"


def _written_by(revision: str, claim: str) -> bool:
    return bool(claim) and revision.split("-")[1:2] == [claim[:8]]


def remove(uri: str, names: Sequence[str], clauses: Sequence[str]) -> None:
    """Delete the rows for which one of ``clauses`` (``schema.is_filing`` and others) is true, table after table.

    To remove a filing, name ``filings`` first: its row there makes the others count.
    """
    for name in names:
        for some in schema.any_of(clauses):
            layout.write_table(uri, name, methodcaller("delete", some))


def tidy(uri: str, settings: IndexSettings) -> dict[str, ann.Action]:
    """Compact fragmented tables, bring search indexes up to date, and drop versions too old for any reader.

    Returns what was done about the approximate vector index of each table that has or had one.
    """
    done: dict[str, ann.Action] = {}
    for name in schema.table_schemas(1):
        layout.write_table(uri, name, partial(_optimize, name))
        if name in ann.TABLES and (action := ann.update(uri, name, settings)):
            done[name] = action
        layout.write_dataset(uri, name, _drop_expired)
        search_indexes.note_checksums(uri, name)
    return done


def build_search_indexes(uri: str) -> None:
    """Build missing search indexes and update the others. The next index run builds approximate vector indexes; until
    then search is exact."""
    for name in schema.table_schemas(1):
        layout.write_table(uri, name, partial(_optimize, name))
        search_indexes.note_checksums(uri, name)


def _optimize(name: str, table: Any) -> None:
    optimize(table)
    search_indexes.build_missing(name, table)


def _drop_expired(table: Any) -> None:
    if expired := expired_versions(table.versions(), _now()):
        table.cleanup_old_versions(versions=expired)


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

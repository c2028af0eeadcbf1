"""Bring an extension up to date with its index: make the rows of missing filings, drop those of filings that are gone.

A commit appends all rows of whole filings, so a killed run leaves no partial filing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from finray.index import schema
from finray.index.extensions.extension import AnyExtension, Cost, FilingExtension, FilingRows
from finray.index.extensions.set_aside import Attempted, FailedFiling, Key, note_failed
from finray.index.extensions.store import (
    failed_location,
    file_location,
    is_recorded,
    location_of,
    record_of,
    stored_rows,
)
from finray.index.job.attempts import AttemptsHere
from finray.index.reading.reader import IndexReader
from finray.index.tables.search_indexes import build_words
from finray.storage.lance_commit import commit, create_table, open_for_writing, optimize
from finray.storage.locations import exists, write_bytes

_COMMIT_ROWS = 20_000
_COMMIT_SECONDS = 60.0
_KEY = "filing_id_idx"
Tables = Callable[[IndexReader, AnyExtension, Sequence[Key]], Iterator["FilingRows | FailedFiling"]]
"""Makes the rows of each filing once or sets it aside, in any order."""


def in_sequence(
    reader: IndexReader, extension: AnyExtension, todo: Sequence[Key]
) -> Iterator[FilingRows | FailedFiling]:
    """One filing after the other, in this process."""
    return map(Attempted(extension.worker(reader), AttemptsHere()), todo)


@dataclass(frozen=True, slots=True)
class ExtensionSummary:
    name: str
    filings: int
    added: int
    removed: int
    """Filings whose rows were dropped: gone from the index, changed, or written by two runs at once."""
    rows: int
    seconds: float
    costs: Mapping[str, Cost] = field(default_factory=dict)
    """Costs of the filings that were added, by filing id; empty for vectors of pages and chunks."""
    failures: tuple[FailedFiling, ...] = ()
    """Filings that were set aside; the next run tries them again."""


def extend_index(
    reader: IndexReader,
    extension: AnyExtension,
    *,
    rebuild: bool = False,
    progress: Callable[[int, int], None] | None = None,
    tables: Tables = in_sequence,
) -> ExtensionSummary:
    """Bring the extension up to date: make the rows of missing filings, drop those that the index no longer has.

    ``progress`` is called with (filings done, filings to do) after each filing. Raises IndexMismatchError if the
    extension was made with another model, unless ``rebuild``, which starts over.
    """
    started = time.monotonic()
    name = extension.name
    location = location_of(reader.uri, f"{name}.lance")
    if not rebuild:
        is_recorded(reader.uri, extension)
    _, stored, expected = stored_rows(reader, extension)
    unwanted = [key for key, rows in stored.items() if rebuild or expected.get(key) != rows]
    if unwanted:
        commit(location, partial(_delete, location, unwanted))
    if isinstance(extension, FilingExtension):
        for file, make in extension.files.items():
            if rebuild or not exists(file_location(reader.uri, extension, file)):
                write_bytes(file_location(reader.uri, extension, file), make())
    write_bytes(location_of(reader.uri, f"{name}.json"), json.dumps(record_of(extension), indent=1).encode())
    kept = stored.keys() - set(unwanted)
    todo = [key for key, rows in expected.items() if rows and key not in kept]
    costs: dict[str, Cost] = {}
    failed: dict[Key, FailedFiling] = {}
    made = _reported(tables(reader, extension, todo) if todo else iter(()), len(todo), progress)
    for batch in _batches(made, costs, failed):
        keys = sorted(set(zip(batch["filing_id"].to_pylist(), batch["revision"].to_pylist(), strict=True)))
        commit(location, partial(_add, location, batch, keys))
    commit(location, partial(_finish, location, extension.words))
    note_failed(failed_location(reader.uri, extension), failed)
    rows = sum(number for key, number in expected.items() if key not in failed)
    return ExtensionSummary(
        name=name,
        filings=len(expected),
        added=len(todo) - len(failed),
        removed=len(unwanted),
        rows=rows,
        seconds=time.monotonic() - started,
        costs=costs,
        failures=tuple(sorted(failed.values(), key=lambda one: one.key)),
    )


def _reported(
    made: Iterator[FilingRows | FailedFiling], total: int, progress: Callable[[int, int], None] | None
) -> Iterator[FilingRows | FailedFiling]:
    for done, filing in enumerate(made, start=1):
        if progress is not None:
            progress(done, total)
        yield filing


def _batches(
    made: Iterator[FilingRows | FailedFiling], costs: dict[str, Cost], failed: dict[Key, FailedFiling]
) -> Iterator[pa.Table]:
    """Rows to commit together. Adds the cost of each filing to ``costs``, and filings that were set aside to
    ``failed``."""
    ready: list[pa.Table] = []
    since = time.monotonic()
    for filing in made:
        if isinstance(filing, FailedFiling):
            failed[filing.key] = filing
            continue
        ready.append(filing.rows)
        if filing.cost is not None:
            costs[filing.rows["filing_id"][0].as_py()] = filing.cost
        if sum(t.num_rows for t in ready) >= _COMMIT_ROWS or time.monotonic() - since > _COMMIT_SECONDS:
            yield pa.concat_tables(ready)
            ready, since = [], time.monotonic()
    if ready:
        yield pa.concat_tables(ready)


def _add(location: str, batch: pa.Table, keys: Sequence[Key]) -> None:
    _delete(location, keys)  # what a failed try may have left
    create_table(location, batch.schema)
    table = open_for_writing(location)
    # An empty table, as a rebuild leaves it, may have the columns of other settings.
    table.add(batch, mode="append" if table.count_rows() else "overwrite")


def _delete(location: str, keys: Sequence[Key]) -> None:
    if exists(location):
        for some in schema.any_of([schema.is_revision(*key) for key in keys]):
            open_for_writing(location).delete(some)


def _finish(location: str, words: bool) -> None:
    """Compact the table and bring its search indexes up to date."""
    from lancedb.index import BTree

    if not exists(location):
        return
    table = open_for_writing(location)
    optimize(table)
    if not table.count_rows():
        return
    if _KEY not in {index.name for index in table.list_indices()}:
        table.create_index("filing_id", config=BTree(), name=_KEY)
    if words:
        build_words(table)

"""Tables beside the index for single methods: other vectors of the same chunks or pages.

``URI/extensions/<name>.lance`` has one row for each chunk or page, keyed by (filing_id, revision) like the index's own;
``URI/extensions/<name>.json`` records the model. A commit appends all rows of whole filings, so a killed run leaves no
partial filing; the next run adds missing filings and drops those that the index no longer has.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import lance
import pyarrow as pa

from finray.core.errors import IndexMismatchError
from finray.index import schema
from finray.index.maintenance import is_revision, rows_by_revision
from finray.index.reader import IndexReader, committed_rows, vector_hits
from finray.models.encoder import Vectors
from finray.storage.lance_commit import commit, open_latest
from finray.storage.locations import exists, join, lance_storage_options, normalize, read_bytes, write_bytes

Encode = Callable[[Sequence[str]], Mapping[str, pa.Array]]
"""Texts to columns, a value for each text."""
Key = tuple[str, str]
"""(filing_id, revision)"""

FORMAT_VERSION = 1
_COMMIT_ROWS = 20_000
_COMMIT_SECONDS = 60.0
_MAX_FRAGMENTS = 4
_PLACES: Mapping[str, tuple[str, ...]] = {schema.PAGES: ("page",), schema.CHUNKS: ("page", "start", "end")}


@dataclass(frozen=True, slots=True)
class Extension:
    """``name`` is also the name of its method; ``model`` holds every setting that changes a row; ``load`` returns the
    encoder."""

    name: str
    rows: Literal["pages", "chunks"]
    model: Mapping[str, str | int]
    load: Callable[[], Encode]


@dataclass(frozen=True, slots=True)
class ExtensionSummary:
    name: str
    filings: int
    added: int
    removed: int
    """Filings whose rows were dropped: gone from the index, changed, or written by two runs at once."""
    rows: int
    seconds: float


class ExtensionTable:
    """The rows of a complete extension that belong to an open index."""

    def __init__(self, table: Any, place: Sequence[str], revisions: Mapping[str, str], *, stale: bool) -> None:
        self._table = table
        self._place = ("filing_id", *place)
        self._revisions = revisions
        self._stale = stale

    def rows(self, columns: Sequence[str]) -> pa.Table:
        """Place and ``columns`` of every row, ordered by place."""
        if self._table is None:
            return pa.table({name: [] for name in (*self._place, *columns)})
        table = self._table.to_table(columns=[*self._place, *columns], filter=self._where(None))
        return table.sort_by([(name, "ascending") for name in self._place])

    def search_vector(self, vector: Vectors, filing_ids: Collection[str] | None, limit: int) -> pa.Table:
        """Exact cosine search over the column ``vector``: place and score, best first."""
        if self._table is None or limit < 1 or (filing_ids is not None and not filing_ids):
            return pa.table({name: [] for name in (*self._place, "score")})
        return vector_hits(self._table, self._place, vector, self._where(filing_ids), limit)

    def _where(self, filing_ids: Collection[str] | None) -> str | None:
        return committed_rows(self._revisions, filing_ids, stale=self._stale)


def open_extension(reader: IndexReader, extension: Extension) -> ExtensionTable:
    """The extension of the index that ``reader`` has open.

    Raises IndexMismatchError with the command to run if there is none, it was made with another model, or it lacks
    filings.
    """
    command = f"finray extend --index {reader.uri} --with {extension.name}"
    found = _read_record(reader.uri, extension.name)
    if found is None:
        raise IndexMismatchError(
            f"the index at {reader.uri!r} has no {extension.name!r} vectors, which retrieval.method = "
            f"{extension.name!r} needs; make them with: {command}"
        )
    _check_record(reader.uri, extension, found)
    table = _open(_location(reader.uri, f"{extension.name}.lance"))
    stored = Counter() if table is None else rows_by_revision(table)
    expected = _expected(reader, extension)
    absent = [key for key, rows in expected.items() if stored.get(key, 0) != rows]
    if absent:
        raise IndexMismatchError(
            f"the {extension.name!r} vectors of the index at {reader.uri!r} lack {len(absent)} of {len(expected)} "
            f"filings; add them with: {command}"
        )
    stale = sum(stored.values()) != sum(expected.values())
    return ExtensionTable(table, _PLACES[extension.rows], reader.revisions, stale=stale)


def extend_index(
    reader: IndexReader,
    extension: Extension,
    *,
    rebuild: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ExtensionSummary:
    """Bring the extension up to date: encode missing filings, drop those that the index no longer has.

    ``progress`` is called with (filings done, filings to do). Raises IndexMismatchError if the extension was made with
    another model, unless ``rebuild``, which starts over.
    """
    started = time.monotonic()
    name = extension.name
    location = _location(reader.uri, f"{name}.lance")
    found = _read_record(reader.uri, name)
    if found is not None and not rebuild:
        _check_record(reader.uri, extension, found)
    table = _open(location)
    expected = _expected(reader, extension)
    stored = Counter() if table is None else rows_by_revision(table)
    unwanted = [key for key, rows in stored.items() if rebuild or expected.get(key) != rows]
    if unwanted:
        commit(location, partial(_delete, location, unwanted))
    write_bytes(_location(reader.uri, f"{name}.json"), json.dumps(_record(extension), indent=1).encode())
    kept = stored.keys() - set(unwanted)
    todo = [key for key, rows in expected.items() if rows and key not in kept]
    done = 0
    for batch, filings in _batches(reader, extension, todo):
        commit(location, partial(_add, location, batch), undo=partial(_remove, location, batch))
        done += filings
        if progress is not None:
            progress(done, len(todo))
    commit(location, partial(_compact, location))
    return ExtensionSummary(
        name, len(expected), len(todo), len(unwanted), sum(expected.values()), time.monotonic() - started
    )


def _batches(reader: IndexReader, extension: Extension, todo: Sequence[Key]) -> Iterator[tuple[pa.Table, int]]:
    """Rows to commit together, and the number of their filings."""
    if not todo:
        return
    encode = extension.load()
    ready: list[pa.Table] = []
    since = time.monotonic()
    counts = reader.row_counts(extension.rows)
    for number, (filing_id, revision) in enumerate(todo, start=1):
        columns = ["filing_id", *_PLACES[extension.rows], "text"]
        read = reader.pages if extension.rows == schema.PAGES else reader.chunks
        rows = read([filing_id], columns)
        if rows.num_rows != counts[filing_id]:
            raise IndexMismatchError(
                f"the index at {reader.uri!r} is damaged: filing {filing_id} has {rows.num_rows} {extension.rows}, not "
                f"{counts[filing_id]}; repair it with `finray index` and its sources"
            )
        encoded = encode(rows["text"].to_pylist())
        rows = rows.drop_columns(["text"]).append_column("revision", pa.array([revision] * rows.num_rows, pa.string()))
        for name, column in encoded.items():
            rows = rows.append_column(name, column)
        ready.append(rows)
        due = sum(t.num_rows for t in ready) >= _COMMIT_ROWS or time.monotonic() - since > _COMMIT_SECONDS
        if due or number == len(todo):
            yield pa.concat_tables(ready), len(ready)
            ready, since = [], time.monotonic()


def _expected(reader: IndexReader, extension: Extension) -> dict[Key, int]:
    counts = reader.row_counts(extension.rows)
    return {(filing_id, revision): counts[filing_id] for filing_id, revision in reader.revisions.items()}


def _add(location: str, batch: pa.Table) -> None:
    mode = "append" if _open(location) is not None else "create"
    lance.write_dataset(batch, location, mode=mode, storage_options=lance_storage_options(location) or None)


def _remove(location: str, batch: pa.Table) -> None:
    if _open(location) is not None:
        keys = set(zip(batch["filing_id"].to_pylist(), batch["revision"].to_pylist(), strict=True))
        _delete(location, sorted(keys))


def _delete(location: str, keys: Sequence[Key]) -> None:
    for start in range(0, len(keys), 500):
        _open(location).delete(" OR ".join(is_revision(*key) for key in keys[start : start + 500]))


def _compact(location: str) -> None:
    table = _open(location)
    if table is not None and len(table.get_fragments()) > _MAX_FRAGMENTS:
        table.optimize.compact_files()


def _record(extension: Extension) -> dict[str, Any]:
    return {"format_version": FORMAT_VERSION, "rows": extension.rows, "model": dict(extension.model)}


def _read_record(uri: str, name: str) -> dict[str, Any] | None:
    location = _location(uri, f"{name}.json")
    if not exists(location):
        return None
    try:
        record: dict[str, Any] = json.loads(read_bytes(location))
    except ValueError as error:
        raise IndexMismatchError(f"{location!r} is not the record of an extension: {error}; remove it") from error
    return record


def _check_record(uri: str, extension: Extension, found: Mapping[str, Any]) -> None:
    if found != _record(extension):
        raise IndexMismatchError(
            f"the {extension.name!r} vectors of the index at {uri!r} were made with {found.get('model')}, the present "
            f"settings are {dict(extension.model)}; use the settings they were made with, or rebuild them with: "
            f"finray extend --index {uri} --with {extension.name} --rebuild"
        )


def _location(uri: str, file: str) -> str:
    return join(normalize(uri), "extensions", file)


def _open(location: str) -> Any:
    """The table at its latest version, None if there is none yet."""
    return open_latest(location) if exists(location) else None

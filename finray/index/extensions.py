"""Tables beside the index that single methods need: other vectors of the same chunks or pages.

``URI/extensions/<name>.lance`` holds one row for each chunk or page, keyed by (filing_id, revision) like the index's
own; ``URI/extensions/<name>.json`` says which model made them. A commit appends all rows of whole filings, so a killed
run leaves nothing half done, and the next one adds what is missing and drops what the index no longer has.
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
from finray.index.reader import IndexReader, vector_hits
from finray.models.encoder import Vectors
from finray.storage.lance_commit import commit, open_latest
from finray.storage.locations import exists, join, lance_storage_options, normalise, read_bytes, write_bytes

Encode = Callable[[Sequence[str]], Mapping[str, pa.Array]]
"""Texts to columns, a value for each text."""
Key = tuple[str, str]
"""(filing_id, revision)"""

FORMAT_VERSION = 1
_COMMIT_ROWS = 20_000
_COMMIT_SECONDS = 60.0
_SMALL_FRAGMENTS = 4
_PLACES: Mapping[str, tuple[str, ...]] = {schema.PAGES: ("page",), schema.CHUNKS: ("page", "start", "end")}


@dataclass(frozen=True, slots=True)
class Extension:
    """``name`` is also that of the method it serves; ``model`` is every setting that changes a row; ``load`` gives
    the encoder, when there is something to encode."""

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
    """Filings whose rows were dropped: gone from the index, changed, or written twice by two runs at once."""
    rows: int
    seconds: float


class ExtensionTable:
    """The rows of an extension that belong to an open index, all of them there."""

    def __init__(self, table: Any, place: Sequence[str], revisions: Mapping[str, str], *, stale: bool) -> None:
        self._table = table
        self._place = ("filing_id", *place)
        self._revisions = revisions
        self._stale = stale

    def rows(self, columns: Sequence[str]) -> pa.Table:
        """Place and ``columns`` of every row, by place."""
        if self._table is None:
            return pa.table({name: [] for name in (*self._place, *columns)})
        table = self._table.to_table(columns=[*self._place, *columns], filter=self._filter(None))
        return table.sort_by([(name, "ascending") for name in self._place])

    def search_vector(self, vector: Vectors, filing_ids: Collection[str] | None, limit: int) -> pa.Table:
        """Cosine over the column ``vector``, exact: place and score, best first."""
        if self._table is None or limit < 1 or (filing_ids is not None and not filing_ids):
            return pa.table({name: [] for name in (*self._place, "score")})
        return vector_hits(self._table, self._place, vector, self._filter(filing_ids), limit)

    def _filter(self, filing_ids: Collection[str] | None) -> str | None:
        ids = self._revisions.keys() if filing_ids is None else dict.fromkeys(filing_ids)
        clauses = [] if filing_ids is None else [f"filing_id IN ({schema.literals(ids)})"]
        if self._stale:
            revisions = dict.fromkeys(self._revisions[i] for i in ids if i in self._revisions)
            clauses.append(f"revision IN ({schema.literals(revisions)})" if revisions else "false")
        return " AND ".join(clauses) or None


def open_extension(reader: IndexReader, extension: Extension) -> ExtensionTable:
    """The extension as ``reader`` needs it.

    Raises IndexMismatchError, which names the command to run, where there is none, where it was made with another
    model, or where filings are missing.
    """
    command = f"finray extend --index {reader.uri} --with {extension.name}"
    found = _read_record(reader.uri, extension.name)
    if found is None:
        raise IndexMismatchError(
            f"the index at {reader.uri!r} has no {extension.name!r} vectors, which retrieval.method = "
            f"{extension.name!r} needs; make them with: {command}"
        )
    _check_record(reader.uri, extension, found)
    table = _open(reader.uri, extension.name)
    stored = _stored(table)
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
    """Bring the extension up to date: encode the filings it lacks, drop those the index no longer has.

    ``progress`` is told (filings done, filings to do). Raises IndexMismatchError where it was made with another
    model, unless ``rebuild``, which starts over.
    """
    started = time.monotonic()
    uri, name = reader.uri, extension.name
    found = _read_record(uri, name)
    if found is not None and not rebuild:
        _check_record(uri, extension, found)
    table = _open(uri, name)
    expected = _expected(reader, extension)
    stored = _stored(table)
    unwanted = [key for key, rows in stored.items() if rebuild or expected.get(key) != rows]
    if table is not None and unwanted:
        commit(_table_uri(uri, name), partial(_delete, uri, name, unwanted))
    write_bytes(_record_uri(uri, name), json.dumps(_record(extension), indent=1).encode())
    kept = stored.keys() - set(unwanted)
    todo = [key for key, rows in expected.items() if rows and key not in kept]
    done = 0
    for batch, filings in _batches(reader, extension, todo):
        commit(_table_uri(uri, name), partial(_add, uri, name, batch), undo=partial(_take_back, uri, name, batch))
        done += filings
        if progress is not None:
            progress(done, len(todo))
    commit(_table_uri(uri, name), partial(_tidy, uri, name))
    return ExtensionSummary(
        name, len(expected), len(todo), len(unwanted), sum(expected.values()), time.monotonic() - started
    )


def _batches(reader: IndexReader, extension: Extension, todo: Sequence[Key]) -> Iterator[tuple[pa.Table, int]]:
    """Rows to commit together, and of how many filings they are."""
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
                f"{counts[filing_id]}; `finray index` with its sources puts that right"
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


def _stored(table: Any) -> Counter[Key]:
    found: Counter[Key] = Counter()
    if table is not None:
        for batch in table.to_batches(columns=["filing_id", "revision"]):
            found.update(zip(batch["filing_id"].to_pylist(), batch["revision"].to_pylist(), strict=True))
    return found


def _add(uri: str, name: str, batch: pa.Table) -> None:
    mode = "append" if _open(uri, name) is not None else "create"
    lance.write_dataset(batch, _table_uri(uri, name), mode=mode, storage_options=_options(uri))


def _take_back(uri: str, name: str, batch: pa.Table) -> None:
    if _open(uri, name) is not None:
        keys = set(zip(batch["filing_id"].to_pylist(), batch["revision"].to_pylist(), strict=True))
        _delete(uri, name, sorted(keys))


def _delete(uri: str, name: str, keys: Sequence[Key]) -> None:
    for start in range(0, len(keys), 500):
        clauses = (
            f"(filing_id = {schema.literals([i])} AND revision = {schema.literals([r])})"
            for i, r in keys[start : start + 500]
        )
        _open(uri, name).delete(" OR ".join(clauses))


def _tidy(uri: str, name: str) -> None:
    table = _open(uri, name)
    if table is not None and len(table.get_fragments()) > _SMALL_FRAGMENTS:
        table.optimize.compact_files()


def _record(extension: Extension) -> dict[str, Any]:
    return {"format_version": FORMAT_VERSION, "rows": extension.rows, "model": dict(extension.model)}


def _read_record(uri: str, name: str) -> dict[str, Any] | None:
    where = _record_uri(uri, name)
    if not exists(where):
        return None
    try:
        record: dict[str, Any] = json.loads(read_bytes(where))
    except ValueError as error:
        raise IndexMismatchError(f"{where!r} is not the record of an extension: {error}; remove it") from error
    return record


def _check_record(uri: str, extension: Extension, found: Mapping[str, Any]) -> None:
    if found != _record(extension):
        raise IndexMismatchError(
            f"the {extension.name!r} vectors of the index at {uri!r} were made with {found.get('model')}, the present "
            f"settings are {dict(extension.model)}; use the settings they were made with, or make them anew with: "
            f"finray extend --index {uri} --with {extension.name} --rebuild"
        )


def _record_uri(uri: str, name: str) -> str:
    return join(normalise(uri), "extensions", f"{name}.json")


def _table_uri(uri: str, name: str) -> str:
    return join(normalise(uri), "extensions", f"{name}.lance")


def _open(uri: str, name: str) -> Any:
    """The table at its latest version, None where there is none yet."""
    where = _table_uri(uri, name)
    return open_latest(where) if exists(where) else None


def _options(uri: str) -> dict[str, str] | None:
    return lance_storage_options(normalise(uri)) or None

"""What was listed and what became of it, as two Lance tables beside the raw filings.

``filings`` has one row for each accession number that was ever wanted. ``indexes`` has one row for each index or
archive that was read, per selection of forms and companies. A commit is one atomic step of Lance (on S3 a conditional
put), and rows are merged by key, so two syncs at once lose nothing of each other. The ``.json`` beside a raw filing is
written before the row "done": the run after a kill in between finds the file and fetches nothing twice.

A day is complete if its index was read and none of its filings is pending or failed. These rows are the only record.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import lance
import pyarrow as pa

from finray.core.errors import SourceError
from finray.edgar.listing import Listed
from finray.storage.columns import AS_JSON, arrow_schema
from finray.storage.lance_commit import commit, open_latest
from finray.storage.locations import exists, join, lance_storage_options

State = Literal["pending", "done", "skipped", "failed", "deleted"]
_COMMIT_ROWS = 5_000
_COMMIT_SECONDS = 5.0
_SMALL_FRAGMENTS = 16
_KEEP_VERSIONS = dt.timedelta(days=1)
_MAX_CLOCK_SKEW = dt.timedelta(hours=1)
"""Between machines that sync into one store; with more, one of them is wrong."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One filing. ``reason`` is why it was skipped, failed or deleted, ``tries`` the number of runs that failed to
    fetch it, ``sha256`` that of the raw filing, empty if there is none."""

    listed: Listed
    state: State
    reason: str = ""
    tries: int = 0
    sha256: str = ""
    size: int = 0

    def is_due(self, give_up_after: int) -> bool:
        """Whether the filing must still be fetched, after fewer than ``give_up_after`` failed runs."""
        return self.state == "pending" or (self.state == "failed" and self.tries < give_up_after)


@dataclass(frozen=True, slots=True)
class IndexRead:
    """One index or archive that was read for one selection, and the filing dates that were taken from it.

    ``missing``: EDGAR has none (a holiday). ``validator`` shows whether it has changed since.
    """

    unit: str
    selection: str
    since: dt.date
    until: dt.date
    listed: int
    wanted: int
    missing: bool
    validator: Mapping[str, str]
    at: dt.datetime

    def spans(self, first: dt.date, last: dt.date) -> bool:
        return self.since <= first and last <= self.until


_TIME = pa.timestamp("us", tz="UTC")
_TYPES: Final = AS_JSON | {dt.date: pa.date32(), dt.datetime: _TIME}
_LISTED: Final = [field.with_nullable(field.type == pa.date32()) for field in arrow_schema(Listed, _TYPES)]
_OUTCOME: Final = list(arrow_schema(Entry, _TYPES, {"tries": pa.int32()}))[1:]
_FILINGS: Final = pa.schema([*_LISTED, *_OUTCOME, pa.field("at", _TIME, nullable=False)])
_INDEXES: Final = pa.schema(
    [pa.field("key", pa.string(), nullable=False), *arrow_schema(IndexRead, _TYPES, {"validator": pa.string()})]
)


class Ledger:
    """The ledger at ``uri``, which the first commit creates. With ``read_only`` nothing is written.

    Holds all rows in memory, about 1 KB each. Not thread-safe.
    """

    def __init__(self, uri: str, *, read_only: bool = False) -> None:
        self._uri = uri
        self._read_only = read_only
        self._entries = {row["accession"]: _entry(row) for row in self._rows("filings")}
        self._indexes = {row["key"]: _index(row) for row in self._rows("indexes")}
        self._changed: dict[str, Entry] = {}
        self._read: dict[str, IndexRead] = {}
        self._since = time.monotonic()

    def get(self, accession: str) -> Entry | None:
        return self._entries.get(accession)

    def entries(self) -> Iterator[Entry]:
        return iter(tuple(self._entries.values()))

    def note(self, entry: Entry) -> None:
        """Record the state of a filing; committed with others, within seconds."""
        accession = entry.listed.accession
        if self._entries.get(accession) != entry:
            self._entries[accession] = self._changed[accession] = entry
        if len(self._changed) >= _COMMIT_ROWS or time.monotonic() - self._since > _COMMIT_SECONDS:
            self.commit()

    def index(self, unit: str, selection: str) -> IndexRead | None:
        return self._indexes.get(_key(unit, selection))

    def indexes(self, selection: str) -> dict[str, IndexRead]:
        """What was read for ``selection``, by unit."""
        return {read.unit: read for read in self._indexes.values() if read.selection == selection}

    def distrust(self, now: dt.datetime) -> None:
        """Ignore indexes read in the future, so that they are read again: the clock was wrong, and a supposed holiday
        or past quarter may be neither."""
        self._indexes = {key: read for key, read in self._indexes.items() if read.at <= now + _MAX_CLOCK_SKEW}

    def note_index(self, read: IndexRead) -> None:
        """Record that an index was read; its filings must be noted first."""
        key = _key(read.unit, read.selection)
        self._indexes[key] = self._read[key] = read

    def commit(self) -> None:
        """Filings first: after a kill in between, the next run reads the index again."""
        if not self._read_only:
            self._merge("filings", "accession", _FILINGS, [_entry_row(entry) for entry in self._changed.values()])
            self._merge("indexes", "key", _INDEXES, [_index_row(read) for read in self._read.values()])
        self._changed, self._read = {}, {}
        self._since = time.monotonic()

    def tidy(self) -> None:
        """Commit, compact tables of many small commits, and drop versions too old to be read by anyone."""
        self.commit()
        for name in ("filings", "indexes"):
            if not self._read_only and exists(self._table(name)):
                commit(self._table(name), partial(self._compact, name))

    def _compact(self, name: str) -> None:
        table = self._open(name)
        if len(table.get_fragments()) > _SMALL_FRAGMENTS:
            table.optimize.compact_files()
            self._open(name).cleanup_old_versions(older_than=_KEEP_VERSIONS)

    def _merge(self, name: str, key: str, schema: pa.Schema, rows: list[dict[str, Any]]) -> None:
        if not rows:
            return
        where, table = self._table(name), pa.Table.from_pylist(rows, schema)

        def upsert() -> None:
            if not exists(where):
                _create(where, schema)
            merge = self._open(name).merge_insert(key)
            merge.when_matched_update_all().when_not_matched_insert_all().execute(table)

        commit(where, upsert)

    def _rows(self, name: str) -> list[dict[str, Any]]:
        return list(self._open(name).to_table().to_pylist()) if exists(self._table(name)) else []

    def _open(self, name: str) -> Any:
        where = self._table(name)
        try:
            return open_latest(where)
        except (ValueError, OSError) as error:
            raise SourceError(
                f"the ledger {where!r} cannot be read: {error}. Restore it, or delete it: the next sync lists "
                "everything again and adopts the raw filings that are there"
            ) from error

    def _table(self, name: str) -> str:
        return join(self._uri, f"{name}.lance")


def _create(where: str, schema: pa.Schema) -> None:
    try:
        lance.write_dataset(
            schema.empty_table(), where, mode="create", storage_options=lance_storage_options(where) or None
        )
    except OSError as error:
        if "already exists" not in str(error):  # another sync was first
            raise


def relisted(entry: Entry | None, listed: Listed) -> Entry:
    """The entry of a filing that an index lists (again).

    A corrected form or filing date means other content under the same number; another company name does not.
    """
    if entry is None:
        return Entry(listed, "pending")
    known = entry.listed
    # A late filing keeps the day on which it was first seen, even if the quarterly index has another.
    listed = replace(listed, day=known.day if known.filed_at == listed.filed_at else listed.day)
    listed = replace(listed, ciks=tuple(sorted({*known.ciks, *listed.ciks})), url=known.url or listed.url)
    if entry.state == "deleted":
        return Entry(listed, "pending")
    if (known.form, known.filed_at) != (listed.form, listed.filed_at):
        return replace(entry, listed=listed, state="pending", reason="corrected on EDGAR", tries=0)
    return replace(entry, listed=listed)


def _key(unit: str, selection: str) -> str:
    return f"{unit} {selection}"


def _entry_row(entry: Entry) -> dict[str, Any]:
    row = dataclasses.asdict(entry)
    listed: dict[str, Any] = row.pop("listed")
    return listed | row | {"at": dt.datetime.now(dt.UTC)}


def _entry(row: Mapping[str, Any]) -> Entry:
    listed = Listed(**{field.name: row[field.name] for field in _LISTED} | {"ciks": tuple(row["ciks"])})
    return Entry(listed, **{field.name: row[field.name] for field in _OUTCOME})


def _index_row(read: IndexRead) -> dict[str, Any]:
    validator = json.dumps(dict(read.validator), sort_keys=True)
    return dataclasses.asdict(read) | {"key": _key(read.unit, read.selection), "validator": validator}


def _index(row: Mapping[str, Any]) -> IndexRead:
    values = {name: value for name, value in row.items() if name != "key"}
    return IndexRead(**values | {"validator": json.loads(row["validator"])})


def pending(entries: Iterable[Entry], give_up_after: int, *, retry_failed: bool) -> list[Entry]:
    """Entries to fetch, the oldest first; with ``retry_failed`` also those that were skipped or failed too often."""
    due = [
        entry
        for entry in entries
        if entry.is_due(give_up_after) or (retry_failed and entry.state in ("failed", "skipped"))
    ]
    return sorted(due, key=lambda entry: (entry.listed.day, entry.listed.accession))

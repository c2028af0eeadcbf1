"""Records what was listed and what became of it, in two Lance tables beside the raw filings.

``filings`` has one row for each accession number that was ever wanted. ``indexes`` has one row for each index or
archive that was read, per selection of forms and companies. A commit is one atomic step of Lance (on S3 a conditional
put), and rows are merged by key, so two syncs at once do not lose each other's rows. The ``.json`` beside a raw filing
is written before the row "done": the run after a kill in between finds the file and fetches nothing twice.

A day is complete if its index was read and none of its filings is pending or failed. These rows are the only record.
"""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import pyarrow as pa

from finray.core.errors import SourceError
from finray.edgar.listing import Listed
from finray.storage.columns import AS_JSON, arrow_schema
from finray.storage.lance_commit import commit, create_table, open_for_writing, open_if_any, upsert
from finray.storage.locations import join

State = Literal["pending", "done", "skipped", "failed", "deleted"]
SETTLED: Final[frozenset[State]] = frozenset({"done", "deleted"})
"""States of filings that are not stored again when a dump delivers them, except as a correction."""
_COMMIT_ROWS = 5_000
_COMMIT_SECONDS = 5.0
_SMALL_FRAGMENTS = 16
_KEEP_VERSIONS = dt.timedelta(days=1)
_MAX_CLOCK_SKEW = dt.timedelta(hours=1)
"""Largest difference between the clocks of machines that sync into one store; with more, one of them is wrong."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One filing. ``reason`` is why it was skipped, failed or deleted; ``tries`` counts the runs that failed to fetch
    it; ``sha256`` is that of the raw filing, empty if there is none."""

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

    @property
    def key(self) -> str:
        return f"{self.unit} {self.selection}"

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
        """Record the state of a filing; it is committed with others, within seconds."""
        accession = entry.listed.accession
        if self._entries.get(accession) != entry:
            self._entries[accession] = self._changed[accession] = entry
        if len(self._changed) >= _COMMIT_ROWS or time.monotonic() - self._since > _COMMIT_SECONDS:
            self.commit()

    def index(self, unit: str, selection: str) -> IndexRead | None:
        return self._indexes.get(f"{unit} {selection}")

    def indexes(self, selection: str) -> dict[str, IndexRead]:
        """What was read for ``selection``, by unit."""
        return {read.unit: read for read in self._indexes.values() if read.selection == selection}

    def forget_future_reads(self, now: dt.datetime) -> None:
        """Ignore indexes read after ``now``, so that they are read again: the clock was wrong, and a supposed holiday
        or past quarter may be neither."""
        self._indexes = {key: read for key, read in self._indexes.items() if read.at <= now + _MAX_CLOCK_SKEW}

    def note_index(self, read: IndexRead) -> None:
        """Record that an index was read; its filings must be noted first."""
        self._indexes[read.key] = self._read[read.key] = read

    def commit(self) -> None:
        """Write all changes: filings first, so that after a kill in between the next run reads the index again."""
        if not self._read_only:
            at = dt.datetime.now(dt.UTC)
            entries = [asdict(entry.listed) | asdict(entry) | {"at": at} for entry in self._changed.values()]
            reads = [
                asdict(read) | {"key": read.key, "validator": json.dumps(dict(read.validator), sort_keys=True)}
                for read in self._read.values()
            ]
            self._merge("filings", "accession", _FILINGS, entries)
            self._merge("indexes", "key", _INDEXES, reads)
        self._changed, self._read = {}, {}
        self._since = time.monotonic()

    def tidy(self) -> None:
        """Commit, compact tables of many small commits, and drop versions too old to be read by anyone."""
        self.commit()
        if not self._read_only:
            for name in ("filings", "indexes"):
                commit(self._table(name), partial(self._compact, name))

    def _compact(self, name: str) -> None:
        table = self._open(name)
        if table is not None and len(table.get_fragments()) > _SMALL_FRAGMENTS:
            open_for_writing(self._table(name)).optimize(cleanup_older_than=_KEEP_VERSIONS)

    def _merge(self, name: str, key: str, schema: pa.Schema, rows: list[dict[str, Any]]) -> None:
        if rows:
            where, table = self._table(name), pa.Table.from_pylist(rows, schema)
            if self._open(name) is None:
                create_table(where, schema)
            commit(where, lambda: upsert(open_for_writing(where), key, table))

    def _rows(self, name: str) -> list[dict[str, Any]]:
        table = self._open(name)
        return [] if table is None else list(table.to_table().to_pylist())

    def _open(self, name: str) -> Any:
        """The latest version of a table, None if there is none yet."""
        where = self._table(name)
        try:
            return open_if_any(where)
        except (ValueError, OSError) as error:
            raise SourceError(
                f"the ledger {where!r} cannot be read: {error}. Restore it, or delete it: the next sync lists "
                "everything again and adopts the raw filings that are there"
            ) from error

    def _table(self, name: str) -> str:
        return join(self._uri, f"{name}.lance")


def relisted(entry: Entry | None, listed: Listed) -> Entry:
    """The entry of a filing that an index lists (again).

    A corrected form or filing date means that the content has changed under the same number; another company name does
    not.
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


def _entry(row: Mapping[str, Any]) -> Entry:
    listed = Listed(**{field.name: row[field.name] for field in _LISTED} | {"ciks": tuple(row["ciks"])})
    return Entry(listed, **{field.name: row[field.name] for field in _OUTCOME})


def _index(row: Mapping[str, Any]) -> IndexRead:
    values = {name: value for name, value in row.items() if name != "key"}
    return IndexRead(**values | {"validator": json.loads(row["validator"])})

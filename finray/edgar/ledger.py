"""What was listed and what became of it, as two Lance tables beside the raw filings.

``filings``: one row for each accession number that was ever wanted. ``indexes``: one row for each index or archive
that was read, for one selection of forms and companies. A commit is one atomic step of Lance, on S3 by conditional
put, and rows are merged by key: two syncs at once lose nothing of each other. The ``.json`` beside a raw filing is
written before the row that says "done"; a run that is killed in between finds it and fetches nothing twice.

A day is complete when its index was read and no filing of it is pending or failed: the rows say so, no other note.
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
from finray.storage.lance_commit import commit, open_latest
from finray.storage.locations import exists, join, lance_storage_options

State = Literal["pending", "done", "skipped", "failed", "deleted"]
_TIME = pa.timestamp("us", tz="UTC")
_FILINGS: Final = pa.schema(
    [
        pa.field("accession", pa.string(), nullable=False),
        pa.field("form", pa.string(), nullable=False),
        pa.field("company", pa.string(), nullable=False),
        pa.field("ciks", pa.list_(pa.string()), nullable=False),
        pa.field("filed_at", pa.date32()),
        pa.field("day", pa.date32()),
        pa.field("url", pa.string(), nullable=False),
        pa.field("state", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("tries", pa.int32(), nullable=False),
        pa.field("sha256", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("at", _TIME, nullable=False),
    ]
)
_INDEXES: Final = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("unit", pa.string(), nullable=False),
        pa.field("selection", pa.string(), nullable=False),
        pa.field("since", pa.date32(), nullable=False),
        pa.field("until", pa.date32(), nullable=False),
        pa.field("listed", pa.int64(), nullable=False),
        pa.field("wanted", pa.int64(), nullable=False),
        pa.field("missing", pa.bool_(), nullable=False),
        pa.field("validator", pa.string(), nullable=False),
        pa.field("at", _TIME, nullable=False),
    ]
)
_COMMIT_ROWS = 5_000
_COMMIT_SECONDS = 5.0
_SMALL_FRAGMENTS = 16
_KEEP_VERSIONS = dt.timedelta(days=1)
_CLOCKS_DIFFER = dt.timedelta(hours=1)
"""Between machines that sync into one store; more is an error of one of them."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One filing. ``reason`` says why it was skipped, failed or deleted; ``tries`` counts the runs that failed to get
    it; ``sha256`` is that of the raw filing, empty where there is none."""

    listed: Listed
    state: State
    reason: str = ""
    tries: int = 0
    sha256: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class IndexRead:
    """One index or archive that was read for one selection. Of it, what was filed ``since`` to ``until`` was taken;
    ``missing`` where EDGAR has none (a holiday); ``validator`` tells whether it has changed since."""

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


class Ledger:
    """Opens the ledger at ``uri``, which is made with the first commit. ``read_only`` never writes.

    Holds all rows in memory, about 1 KB each. For one thread.
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
        """Remember what became of a filing; committed with others, within seconds."""
        accession = entry.listed.accession
        if self._entries.get(accession) != entry:
            self._entries[accession] = self._changed[accession] = entry
        if len(self._changed) >= _COMMIT_ROWS or time.monotonic() - self._since > _COMMIT_SECONDS:
            self.commit()

    def index(self, unit: str, selection: str) -> IndexRead | None:
        return self._indexes.get(_key(unit, selection))

    def indexes(self, selection: str) -> dict[str, IndexRead]:
        """By unit, what was read for ``selection``."""
        return {read.unit: read for read in self._indexes.values() if read.selection == selection}

    def distrust(self, now: dt.datetime) -> None:
        """Leave aside what was read at a time that is still to come, so that it is read again: the clock was wrong, and
        what it took for a holiday, or for a quarter that is over, may be neither."""
        self._indexes = {key: read for key, read in self._indexes.items() if read.at <= now + _CLOCKS_DIFFER}

    def note_index(self, read: IndexRead) -> None:
        """Remember that an index was read; the filings in it must have been noted before."""
        key = _key(read.unit, read.selection)
        self._indexes[key] = self._read[key] = read

    def commit(self) -> None:
        """Filings first: a run that is killed in between reads the index again."""
        if not self._read_only:
            self._merge("filings", "accession", _FILINGS, [_entry_row(entry) for entry in self._changed.values()])
            self._merge("indexes", "key", _INDEXES, [_index_row(read) for read in self._read.values()])
        self._changed, self._read = {}, {}
        self._since = time.monotonic()

    def tidy(self) -> None:
        """Commit; compact tables of many small commits, and drop versions that nobody can be reading."""
        self.commit()
        for name in ("filings", "indexes"):
            if self._read_only or not exists(self._table(name)):
                continue
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
                self._create(where, schema)
            merge = self._open(name).merge_insert(key)
            merge.when_matched_update_all().when_not_matched_insert_all().execute(table)

        commit(where, upsert)

    def _create(self, where: str, schema: pa.Schema) -> None:
        try:
            lance.write_dataset(schema.empty_table(), where, mode="create", storage_options=self._options())
        except OSError as error:
            if "already exists" not in str(error):  # another sync was first
                raise

    def _rows(self, name: str) -> list[dict[str, Any]]:
        if not exists(self._table(name)):
            return []
        rows: list[dict[str, Any]] = self._open(name).to_table().to_pylist()
        return rows

    def _open(self, name: str) -> Any:
        where = self._table(name)
        try:
            return open_latest(where)
        except (ValueError, OSError) as error:
            raise SourceError(
                f"the ledger {where!r} cannot be read: {error}. Restore it, or delete it: the next sync "
                "lists everything again and takes over the raw filings that are there"
            ) from error

    def _table(self, name: str) -> str:
        return join(self._uri, f"{name}.lance")

    def _options(self) -> dict[str, str] | None:
        return lance_storage_options(self._uri) or None


def relisted(entry: Entry | None, listed: Listed) -> Entry:
    """What the ledger should say of a filing that an index lists (again). A corrected form or filing date means other
    content under the same number; another name of the company does not."""
    if entry is None:
        return Entry(listed, "pending")
    known = entry.listed
    # A late filing keeps the day on which it was first seen, whatever the quarterly index calls its day.
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
    listed = dataclasses.asdict(entry.listed)
    listed["ciks"] = list(entry.listed.ciks)
    own = {name: getattr(entry, name) for name in ("state", "reason", "tries", "sha256", "size")}
    return {**listed, **own, "at": dt.datetime.now(dt.UTC)}


def _entry(row: Mapping[str, Any]) -> Entry:
    listed = Listed(
        **{name: row[name] for name in ("accession", "form", "company", "filed_at", "day", "url")},
        ciks=tuple(row["ciks"]),
    )
    return Entry(listed, row["state"], row["reason"], row["tries"], row["sha256"], row["size"])


def _index_row(read: IndexRead) -> dict[str, Any]:
    values = dataclasses.asdict(read)
    return {
        **values,
        "key": _key(read.unit, read.selection),
        "validator": json.dumps(dict(read.validator), sort_keys=True),
    }


def _index(row: Mapping[str, Any]) -> IndexRead:
    values = {field.name: row[field.name] for field in dataclasses.fields(IndexRead)}
    return IndexRead(**{**values, "validator": json.loads(row["validator"])})


def pending(entries: Iterable[Entry], give_up_after: int, *, retry_failed: bool) -> list[Entry]:
    """What is to be fetched, the oldest first. With ``retry_failed`` also what was skipped or failed too often."""
    due = [
        entry
        for entry in entries
        if entry.state == "pending"
        or (entry.state == "failed" and entry.tries < give_up_after)
        or (retry_failed and entry.state in ("failed", "skipped"))
    ]
    return sorted(due, key=lambda entry: (entry.listed.day, entry.listed.accession))

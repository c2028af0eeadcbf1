"""Locations of the parts of an index, and the record of how it was built.

``URI/index.json`` is the record; ``URI/<table>.lance`` are the tables, which LanceDB opens directly.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from operator import methodcaller
from shlex import quote
from typing import Any, TypeVar

import pyarrow as pa

from finray.core.errors import IndexDamagedError, IndexMismatchError, IndexMissingError, SourceError
from finray.core.settings import Settings
from finray.index.schema import FILINGS, FORMAT_VERSION, table_schemas
from finray.storage.lance_commit import (
    WRITE_ERRORS,
    commit,
    create_table,
    open_for_writing,
    open_if_any,
    open_latest,
    panics_as_errors,
    reason,
)
from finray.storage.locations import exists, join, normalize, read_bytes, write_bytes

T = TypeVar("T")

UNREADABLE: tuple[type[Exception], ...] = (*WRITE_ERRORS, ValueError, pa.ArrowException)
"""Errors that reading a damaged table may raise."""
_REQUIRED = {name: {field.name for field in schema if not field.nullable} for name, schema in table_schemas(1).items()}
"""Columns that every index of this format has; a missing one counts as damage."""
_RECORD = "finray.record"
"""Key of the copy of the record in the configuration of the table ``filings``."""
_SETTINGS = {
    "encoder": "encoder.model",
    "chunk_size": "chunks.size",
    "chunk_overlap": "chunks.overlap",
    "chunk_unit": "chunks.unit",
    "profile": "collection.profile",
}
"""The setting behind a field of the record."""

# Without this, statistics of a vector index include all its centroids, and Lance warns about that.
os.environ.setdefault("LANCE_INCLUDE_VECTOR_CENTROIDS", "false")


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """``index_hash`` covers every setting that changes what is stored; ``dimension`` is that of the vectors."""

    format_version: int
    index_hash: str
    dimension: int
    encoder: str
    chunk_size: int
    chunk_overlap: int
    chunk_unit: str = "characters"
    profile: str = "filings"

    @classmethod
    def of(cls, settings: Settings, dimension: int) -> IndexRecord:
        return cls(
            FORMAT_VERSION,
            settings.index_hash(),
            dimension,
            settings.encoder.model,
            settings.chunks.size,
            settings.chunks.overlap,
            settings.chunks.unit,
            settings.collection.profile,
        )

    @property
    def values(self) -> dict[str, Any]:
        """The fields as stored, without defaults, so that older versions of finray can read the record."""
        defaults = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != defaults[name]}

    def __str__(self) -> str:
        return (
            f"profile {self.profile}, encoder {self.encoder} ({self.dimension} dimensions), chunks of "
            f"{self.chunk_size} {self.chunk_unit} with {self.chunk_overlap} overlap, hash {self.index_hash}"
        )


def _record_uri(uri: str) -> str:
    return join(normalize(uri), "index.json")


def read_record(uri: str) -> IndexRecord:
    """The record of the index at ``uri``.

    Raises IndexMissingError if there is none, IndexMismatchError if this version of finray cannot read it.
    """
    location = _record_uri(uri)
    if not exists(location):
        raise _missing(uri)
    try:
        values: dict[str, Any] = json.loads(read_bytes(location))
        if values.get("format_version") != FORMAT_VERSION:
            raise IndexMismatchError(
                f"the index at {uri!r} has format {values.get('format_version')!r}, this finray reads "
                f"{FORMAT_VERSION}; index the sources again into another location"
            )
        return IndexRecord(**values)
    except (ValueError, TypeError, AttributeError) as error:
        raise IndexMismatchError(
            f"{location!r} is not the record of an index: {error}; restore it from the tables with: "
            f"finray check --index {uri} --repair"
        ) from error


def restore_record(uri: str) -> None:
    """Restore a missing or unreadable record from its copy in the tables, if there is one."""
    try:
        read_record(uri)
    except (IndexMissingError, IndexMismatchError):
        if (copy := noted_record(uri)) is not None:
            _write_record(uri, copy)


def note_record(uri: str, record: IndexRecord) -> None:
    """Copy the record into the tables unless they have it."""
    if noted_record(uri) is None:
        note(uri, FILINGS, {_RECORD: json.dumps(record.values)})


def noted_record(uri: str) -> IndexRecord | None:
    """The copy of the record in the tables; None if there is none that can be read."""
    try:
        table = open_if_any(table_uri(uri, FILINGS))
        copy = table.config().get(_RECORD) if table is not None else None
        return IndexRecord(**json.loads(copy)) if copy else None
    except (ValueError, TypeError, OSError):  # damaged where Lance has no checksum: the next writer notes it again
        return None


def _write_record(uri: str, record: IndexRecord) -> None:
    write_bytes(_record_uri(uri), json.dumps(record.values, indent=1).encode())


def _missing(uri: str) -> IndexMissingError:
    return IndexMissingError(f"there is no index at {uri!r}; make one with: finray index SOURCE --index {uri}")


def check_record(uri: str, found: IndexRecord, wanted: IndexRecord) -> None:
    """Raise IndexMismatchError, with the settings to change, unless ``found`` and ``wanted`` are equal."""
    if found == wanted:
        return
    built, now = asdict(found), asdict(wanted)
    others = " ".join(
        f"--set {quote(f'{name}={built[key]}')}" for key, name in _SETTINGS.items() if built[key] != now[key]
    )
    raise IndexMismatchError(
        f"the index at {uri!r} was built with {found}; the present settings are {wanted}. Use the settings it was "
        f"built with{f' ({others})' if others else ''}, or index into another location"
    )


def create(uri: str, record: IndexRecord) -> None:
    """Create empty tables, then the record; complete what a killed run began."""
    for name, schema in table_schemas(record.dimension).items():
        create_table(table_uri(uri, name), schema)
    _write_record(uri, record)


def table_uri(uri: str, name: str) -> str:
    return join(normalize(uri), f"{name}.lance")


def open_table(uri: str, name: str, version: int | None = None) -> Any:
    """The latest or the given version of one table, as a ``lance.LanceDataset`` pinned to it.

    Raises IndexDamagedError if it cannot be opened, SourceError if S3 does not answer.
    """
    with reading(uri, name):
        table = open_latest(table_uri(uri, name))
        if version is not None and table.version != version:
            table = table.checkout_version(version)
        if lost := _REQUIRED[name] - set(table.schema.names):
            raise ValueError(f"it has no column {', '.join(sorted(lost))}")
        return table


def read_table(uri: str, name: str, **options: Any) -> pa.Table:
    """Rows of the latest version of one table, with the options of Lance's ``to_table``. Raises as ``open_table``."""
    table = open_table(uri, name)
    with reading(uri, name):
        return table.to_table(**options)


@contextmanager
def reading(uri: str, name: str) -> Iterator[None]:
    """Turn errors of Lance while it reads a table into IndexMissingError if the whole index is gone, SourceError if S3
    fails, else IndexDamagedError."""
    try:
        with panics_as_errors():
            yield
    except UNREADABLE as error:
        raise _read_error(uri, name, error) from error


def _read_error(uri: str, name: str, error: Exception) -> IndexMissingError | IndexDamagedError | SourceError:
    if "was not found" in str(error) and not exists(_record_uri(uri)):
        return _missing(uri)
    if "S3 error" in str(error):
        return SourceError(f"cannot read {table_uri(uri, name)!r}: {reason(error)}; run the command again")
    return IndexDamagedError(
        f"the table {name!r} of the index at {uri!r} cannot be read: {reason(error)}. Repair it with: finray check "
        f"--index {uri} --deep --repair; then index the sources again, which reads only what the repair removed"
    )


def write_table(uri: str, name: str, step: Callable[[Any], T]) -> T:
    """The result of ``step`` on the latest version of a table, a ``lancedb.table.LanceTable``; on S3 it may run more
    than once (see ``storage.lance_commit``).

    Raises SourceError (CommitConflictError if another writer was first), IndexDamagedError if the table cannot be read.
    """

    def opened() -> Any:
        with reading(uri, name):
            return open_for_writing(table_uri(uri, name))

    return _write(uri, name, lambda: step(opened()))


def write_dataset(uri: str, name: str, step: Callable[[Any], T]) -> T:
    """Like ``write_table``, on a ``lance.LanceDataset``, for what LanceDB cannot do."""
    return _write(uri, name, lambda: step(open_table(uri, name)))


def note(uri: str, name: str, notes: Mapping[str, str | None]) -> None:
    """Keep ``notes`` in the configuration of a table, which readers see with its rows; None removes one."""
    write_dataset(uri, name, methodcaller("update_config", dict(notes)))


def _write(uri: str, name: str, step: Callable[[], T]) -> T:
    try:
        return commit(table_uri(uri, name), step)
    except pa.ArrowException as error:
        raise _read_error(uri, name, error) from error

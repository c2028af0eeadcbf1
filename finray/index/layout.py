"""Where the parts of an index lie, and the record that says how it was built.

``URI/index.json`` is the record; ``URI/<table>.lance`` are the tables, which LanceDB opens as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import lance
import pyarrow as pa

from finray.core.errors import IndexDamagedError, IndexMismatchError, IndexMissingError, SourceError
from finray.core.settings import Settings
from finray.index.schema import FILINGS, FORMAT_VERSION, table_schemas
from finray.storage.lance_commit import commit, open_latest, reason
from finray.storage.locations import exists, join, lance_storage_options, normalise, read_bytes, write_bytes

UNREADABLE: tuple[type[Exception], ...] = (OSError, ValueError, RuntimeError, pa.ArrowException)
"""What reading a damaged table may raise."""

_REQUIRED = {name: {field.name for field in schema if not field.nullable} for name, schema in table_schemas(1).items()}
"""Columns that every table of this format has: one whose name has changed is as bad as a file that is cut."""
_RECORD = "finray.record"
"""Key of the record in the configuration of the table ``filings``."""

# Statistics of a vector index would carry all its centroids, and a warning that they do.
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

    @classmethod
    def of(cls, settings: Settings, dimension: int) -> IndexRecord:
        return cls(
            FORMAT_VERSION,
            settings.index_hash(),
            dimension,
            settings.encoder.model,
            settings.chunks.size,
            settings.chunks.overlap,
        )

    def __str__(self) -> str:
        return (
            f"encoder {self.encoder} ({self.dimension} dimensions), chunks of {self.chunk_size} characters "
            f"with {self.chunk_overlap} overlap, hash {self.index_hash}"
        )


def record_uri(uri: str) -> str:
    return join(normalise(uri), "index.json")


def read_record(uri: str) -> IndexRecord:
    """The record of the index at ``uri``.

    Raises IndexMissingError where there is none, IndexMismatchError where this version of finray cannot read
    it.
    """
    where = record_uri(uri)
    if not exists(where):
        raise _missing(uri)
    try:
        values: dict[str, Any] = json.loads(read_bytes(where))
        if values.get("format_version") != FORMAT_VERSION:
            raise IndexMismatchError(
                f"the index at {uri!r} has format {values.get('format_version')!r}, this finray reads "
                f"{FORMAT_VERSION}; index the sources again into another location"
            )
        return IndexRecord(**values)
    except (ValueError, TypeError, AttributeError) as error:
        raise IndexMismatchError(
            f"{where!r} is not the record of an index: {error}; finray check --index {uri} --repair writes it anew "
            "from what the tables know"
        ) from error


def restore_record(uri: str) -> None:
    """Write the record anew where it is gone or cannot be read, and the tables know it."""
    try:
        read_record(uri)
    except (IndexMissingError, IndexMismatchError):
        if (noted := noted_record(uri)) is not None:
            _write_record(uri, noted)


def note_record(uri: str, record: IndexRecord) -> None:
    """Note the record in the tables too, where it is not yet."""
    if noted_record(uri) is None:
        note = {_RECORD: json.dumps(asdict(record))}
        write_table(uri, FILINGS, lambda table: table.update_config(note))


def noted_record(uri: str) -> IndexRecord | None:
    """What the tables know of the record; None where there are none, or none that know."""
    where = table_uri(uri, FILINGS)
    if not exists(where):
        return None
    try:
        noted = open_latest(where).config().get(_RECORD)
    except (ValueError, OSError):
        return None
    return IndexRecord(**json.loads(noted)) if noted else None


def _write_record(uri: str, record: IndexRecord) -> None:
    write_bytes(record_uri(uri), json.dumps(asdict(record), indent=1).encode())


def _missing(uri: str) -> IndexMissingError:
    return IndexMissingError(f"there is no index at {uri!r}; make one with: finray index SOURCE --index {uri}")


def check_record(uri: str, found: IndexRecord, wanted: IndexRecord) -> None:
    """Raises IndexMismatchError unless an index built as ``found`` can be used as ``wanted``."""
    if found != wanted:
        raise IndexMismatchError(
            f"the index at {uri!r} was built with {found}; the present settings are {wanted}. Use the settings it was "
            "built with, or index into another location"
        )


def create(uri: str, record: IndexRecord) -> None:
    """Empty tables and the record, which comes last. A half-made index of a killed run is completed."""
    for name, schema in table_schemas(record.dimension).items():
        create_table(uri, name, schema)
    _write_record(uri, record)


def create_table(uri: str, name: str, schema: pa.Schema) -> None:
    """An empty table, where there is none."""
    commit(table_uri(uri, name), partial(_create_table, uri, name, schema))


def _create_table(uri: str, name: str, schema: pa.Schema) -> None:
    try:
        lance.write_dataset(schema.empty_table(), table_uri(uri, name), mode="create", storage_options=_options(uri))
    except OSError as error:
        if "already exists" not in str(error):
            raise


def table_uri(uri: str, name: str) -> str:
    return join(normalise(uri), f"{name}.lance")


def open_table(uri: str, name: str, version: int | None = None) -> Any:
    """The latest version of one table, or the one given, as a ``lance.LanceDataset`` that stays at this version.

    Raises IndexDamagedError where it cannot be opened, SourceError where S3 does not answer.
    """
    with reading(uri, name):
        table = open_latest(table_uri(uri, name))
        if version is not None and table.version != version:
            table = table.checkout_version(version)
        if lost := _REQUIRED[name] - set(table.schema.names):
            raise ValueError(f"it has no column {', '.join(sorted(lost))}")
        return table


@contextmanager
def reading(uri: str, name: str) -> Iterator[None]:
    """What Lance says while it reads a table, as IndexDamagedError with the way out, IndexMissingError where the whole
    index is gone, or SourceError where S3 failed."""
    try:
        yield
    except UNREADABLE as error:
        raise _told(uri, name, error) from error


def _told(uri: str, name: str, error: Exception) -> IndexMissingError | IndexDamagedError | SourceError:
    if "was not found" in str(error) and not exists(record_uri(uri)):
        return _missing(uri)
    if "S3 error" in str(error):
        return SourceError(f"cannot read {table_uri(uri, name)!r}: {reason(error)}; run the command again")
    return IndexDamagedError(
        f"the table {name!r} of the index at {uri!r} cannot be read: {reason(error)}. Mend it with: finray check "
        f"--index {uri} --deep --repair; then index the sources again, which reads only what the repair took out"
    )


def write_table(
    uri: str, name: str, step: Callable[[Any], object], *, undo: Callable[[], object] | None = None
) -> None:
    """Do ``step`` with the latest version of a table; on S3 perhaps more than once (see ``storage.lance_commit``).

    Raises SourceError (CommitConflictError if another writer was first), IndexDamagedError if the table cannot be read.
    """
    try:
        commit(table_uri(uri, name), lambda: step(open_table(uri, name)), undo=undo)
    except pa.ArrowException as error:
        raise _told(uri, name, error) from error


def _options(uri: str) -> dict[str, str] | None:
    return lance_storage_options(normalise(uri)) or None

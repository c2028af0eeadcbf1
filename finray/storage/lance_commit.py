"""Open and write LanceDB tables, with retries if S3 fails and one clear error at the end.

Tables are made, merged, indexed and optimized through lancedb (``open_for_writing``). Two things use Lance's own
package (pylance):

* What LanceDB has no call for: data files that workers write and one committer makes part of a table
  (``write_uncommitted``, ``append``), and notes in a table's configuration.
* Reading (``open_latest``), because a question on the command line would take 1.4 times as long with lancedb, mostly to
  import it (docs/development.md). So lancedb is imported where tables are written.

Lance writes the next version of a table only if it does not exist yet, on S3 by a conditional put. If the connection
breaks meanwhile, Lance reads back that version: if it is its own, the commit succeeded; if there is none, it gives up,
because its client never retries a conditional put. So this module repeats the whole step.
"""

from __future__ import annotations

import datetime as dt
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import lance
import lance.fragment
import pyarrow as pa
from lance.fragment import FragmentMetadata

from finray.core.errors import CommitConflictError, SourceError
from finray.storage import s3
from finray.storage.locations import exists, is_s3, lance_storage_options, room_hint

T = TypeVar("T")
_PATIENCE_SECONDS: Final = 120.0
"""No try begins later than this: each may itself include minutes of Lance's retries."""
_S3_FAILED: Final = re.compile(r'Generic S3 error|store: "S3"')
"""In messages of pylance and of lancedb."""
_NOT_FOUND: Final = "was not found"
WRITE_ERRORS: Final = (OSError, RuntimeError)
"""What pylance and lancedb raise if a write fails."""
_CONFLICT: Final = re.compile(r"incompatible transaction|commit conflict", re.I)
_ORIGIN: Final = re.compile(r"^(lance error: )?(LanceError\(IO\): )?")
_MAX_REASON: Final = 300
_NEVER: Final = dt.timedelta(days=36_500)


def commit(where: str, step: Callable[[], T]) -> T:
    """Run ``step``, which opens the table at ``where`` at its latest version and writes it.

    On S3 it is repeated after an error, so it must be idempotent. Raises SourceError, CommitConflictError if another
    writer was first.
    """
    try:
        return s3.retried(step, lambda error: isinstance(error, (*WRITE_ERRORS, SourceError)), *_patience(where))
    except WRITE_ERRORS as error:
        kind = CommitConflictError if _CONFLICT.search(str(error)) else SourceError
        raise kind(f"cannot write {where!r}: {reason(error)}{_remedy(where, error)}") from error


def create_table(where: str, schema: pa.Schema) -> None:
    """Create an empty table at ``where`` unless there is one. Raises SourceError."""

    def create() -> None:
        database, name = _database(where)
        try:
            database.create_table(name, schema=schema)
        except ValueError as error:
            if "already exists" not in str(error):
                raise

    commit(where, create)


def _database(where: str) -> tuple[Any, str]:
    """The LanceDB database that holds the table at ``where``, and the table's name there."""
    import lancedb

    folder, _, name = where.rpartition("/")
    try:
        return lancedb.connect(folder, storage_options=lance_storage_options(where) or None), name.removesuffix(
            ".lance"
        )
    except ValueError as error:
        raise OSError(str(error)) from error


def write_uncommitted(table: Any, rows: pa.Table) -> list[FragmentMetadata]:
    """Write ``rows`` into new data files of an open table. No reader sees them before ``append``, or ever if the call
    fails or is repeated."""
    fragments: list[FragmentMetadata] = lance.fragment.write_fragments(rows, table)
    return fragments


def append(fragments: Sequence[FragmentMetadata]) -> Callable[[Any], None]:
    """A step for ``commit`` that adds ``fragments`` to an open table, only once however often it is tried.

    Raises SourceError if a local file is missing, because another machine wrote it to its own disk.
    """
    tried = False

    def step(table: Any) -> None:
        nonlocal tried
        if tried and data_files(table) >= {file.path for fragment in fragments for file in fragment.files}:
            return
        _check_files(table.uri, fragments)
        tried = True
        lance.LanceDataset.commit(table, lance.LanceOperation.Append(fragments), read_version=table.version)

    return step


def data_files(table: Any) -> set[str]:
    """Names of the data files that an open version of a table refers to."""
    return {str(file.path) for fragment in table.get_fragments() for file in fragment.data_files()}


def _check_files(where: str, fragments: Sequence[FragmentMetadata]) -> None:
    if is_s3(where):
        return
    for file in (file for fragment in fragments for file in fragment.files):
        path = Path(where, "data", file.path)
        if not path.exists():
            raise SourceError(
                f"{socket.gethostname()} has no {str(path)!r}, which a worker wrote: the machines of a cluster need an "
                "index on s3:// or in a folder that they share"
            )


def optimize(table: Any) -> None:
    """Compact a table that is open for writing, add new rows to its search indexes, and delete week-old files of killed
    writes. Old versions stay: LanceDB would drop them by their own age, but the newest one, however old, is open in
    readers."""
    table.optimize(cleanup_older_than=_NEVER)


def upsert(table: Any, key: str, rows: pa.Table, lost: str | None = None) -> None:
    """Insert ``rows`` into a table that is open for writing; each replaces the one with the same ``key``. Delete other
    rows for which the SQL condition ``lost`` is true."""
    merge = table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
    if lost:
        merge = merge.when_not_matched_by_source_delete(lost)
    merge.execute(rows)


def open_if_any(where: str) -> Any:
    """Like ``open_latest``, but None if there is no table yet."""
    return open_latest(where) if exists(where) else None


def open_latest(where: str) -> Any:
    """The latest version of the table at ``where`` as a ``lance.LanceDataset``.

    Raises SourceError if S3 does not answer, and Lance's ValueError or OSError for other problems.
    """
    return _opened(where, lambda: lance.dataset(where, storage_options=lance_storage_options(where) or None))


def open_for_writing(where: str) -> Any:
    """Like ``open_latest``, but a ``lancedb.table.LanceTable``; its other problems are RuntimeErrors too."""

    def open_table() -> Any:
        database, name = _database(where)
        return database.open_table(name)

    return _opened(where, open_table)


def _opened(where: str, open_table: Callable[[], T]) -> T:
    def is_temporary(error: Exception) -> bool:
        # The caller knows that the table exists: an eventually consistent S3 may not list it yet.
        return isinstance(error, problems) and bool(_S3_FAILED.search(str(error)) or _NOT_FOUND in str(error))

    problems = (ValueError, *WRITE_ERRORS)
    try:
        return s3.retried(open_table, is_temporary, *_patience(where))
    except problems as error:
        if not _S3_FAILED.search(str(error)):
            raise
        raise SourceError(f"cannot read {where!r}: {reason(error)}{_remedy(where, error)}") from error


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Turn a panic of Lance, as some damaged files cause, into OSError; PyO3 raises it as a BaseException."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise OSError(f"Lance cannot read it: {error}") from error


def _patience(where: str) -> tuple[int, float]:
    """(tries, seconds after which no try begins): a single try for local files."""
    return (s3.attempts() if is_s3(where) else 1), _PATIENCE_SECONDS


def reason(error: Exception) -> str:
    """Lance's message on one line, without the position in Lance's source code."""
    line = _ORIGIN.sub("", " ".join(str(error).split())).partition(", /")[0]
    return line if len(line) <= _MAX_REASON else f"{line[:_MAX_REASON]} ..."


def _remedy(where: str, error: Exception) -> str:
    if hint := room_hint(error):
        return hint
    if is_s3(where):
        return f". S3 ({s3.endpoint() or 'AWS'}) failed several times; once it works, run the same command again"
    return ". Once that is fixed, run the same command again"

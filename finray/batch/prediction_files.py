"""Storage of predictions: a final JSON-lines or Parquet file, and beside it the lines that a run has appended.

========================  =======================================  ==================================
target                    during a run                             at its end
========================  =======================================  ==================================
``out.jsonl``             the file itself                          a sorted copy replaces it
``out.parquet``           ``out.parquet.partial.jsonl``            the file; the partial one is deleted
``s3://…``                objects ``<out>.parts/part-*.jsonl``     one object; the parts are deleted
``out.xlsx``, ``.csv``    ``out.xlsx.predictions.jsonl``           the file, and the store beside it
========================  =======================================  ==================================

Object stores cannot append, hence the parts. A run killed at any moment leaves the final file, appended lines, or both.
Reading takes both; a later line for a question supersedes an earlier one.
"""

from __future__ import annotations

import fcntl
import glob
import io
import json
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from finray.batch.predictions import encode
from finray.core.errors import SourceError
from finray.core.records import from_row, is_torn
from finray.core.types import Prediction
from finray.storage.atomic import replacing
from finray.storage.columns import arrow_schema
from finray.storage.locations import STORAGE_ERRORS, is_s3, normalize, room_hint, s3_filesystem
from finray.storage.s3 import open_object

SPREADSHEETS = (".xlsx", ".csv")
_ROWS_PER_GROUP = 512
PREDICTION_SCHEMA = arrow_schema(Prediction)
"""Columns of a Parquet predictions file."""


@dataclass(frozen=True, slots=True)
class Line:
    """A complete line with its line feed; ``where`` is its place, for messages, ``final`` if in the final file."""

    content: bytes
    where: str
    final: bool


class PredictionFiles(Protocol):
    """The stored lines of a predictions target. Every method raises SourceError."""

    torn: str | None
    """A message about half a line that a killed writer left, set by ``lines``."""

    def lines(self) -> Iterator[Line]:
        """Stored lines, oldest first."""

    def append(self, lines: bytes) -> None:
        """Store whole lines durably."""

    def replace(self, lines: Iterable[bytes]) -> None:
        """Replace everything by ``lines`` in one step."""

    def open(self) -> None:
        """Prepare to write."""

    def close(self) -> None: ...


def is_spreadsheet(uri: str) -> bool:
    return uri.lower().endswith(SPREADSHEETS)


def store_of(uri: str) -> str:
    """Where the predictions of a run are stored whose target is ``uri``: the target itself unless it is a spreadsheet,
    which cannot be appended to."""
    return f"{uri}.predictions.jsonl" if is_spreadsheet(uri) else uri


def prediction_files(uri: str, kind: type[Any] = Prediction) -> PredictionFiles:
    """The files of ``uri``, whose lines are JSON objects of ``kind``.

    Raises SourceError for a name that ends in neither .jsonl nor .parquet.
    """
    if not uri.lower().endswith((".jsonl", ".parquet")):
        raise SourceError(f"{uri!r}: a predictions file ends in .jsonl, .parquet, .xlsx or .csv")
    location = normalize(uri)
    return ObjectFiles(location) if is_s3(location) else LocalFiles(Path(location), kind)


class LocalFiles:
    """A file in a folder, locked until it is closed or the process ends."""

    def __init__(self, path: Path, kind: type[Any]) -> None:
        self.torn: str | None = None
        self._kind = kind
        self._path = path
        self._parquet = path.suffix.lower() == ".parquet"
        self._journal = path.with_name(path.name + ".partial.jsonl") if self._parquet else path
        self._handle: IO[bytes] | None = None

    def open(self) -> None:
        self._opened()
        for scratch in self._path.parent.glob(f".{glob.escape(self._path.name)}.*.tmp"):
            scratch.unlink()  # left by a run that was killed: it no longer holds the lock

    def _opened(self) -> IO[bytes]:
        with named("write", str(self._journal)):
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            handle = self._journal.open("ab")
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                handle.close()
                raise SourceError(f"another run is writing {str(self._path)!r}; wait, or use another target") from error
        self._handle = handle
        return handle

    def lines(self) -> Iterator[Line]:
        self.torn = None
        with named("read", str(self._path)):
            if self._parquet and self._path.exists():
                with self._path.open("rb") as file:
                    yield from _parquet_lines(file, str(self._path))
            if self._journal.exists():
                with self._journal.open("rb") as file:
                    yield from self._journal_lines(file)

    def _journal_lines(self, file: IO[bytes]) -> Iterator[Line]:
        for number, content in enumerate(file, start=1):
            where = f"{self._journal}, line {number}"
            if not content.endswith(b"\n"):
                if is_torn(self._kind, content):
                    self.torn = f"{where}: half a line, left by a killed run, is ignored"
                    return
                content += b"\n"
            if content.strip():
                yield Line(content, where, final=not self._parquet)

    def append(self, lines: bytes) -> None:
        handle = self._handle or self._opened()
        with named("write", str(self._journal)):
            self._end_last_line()
            handle.write(lines)
            handle.flush()
            os.fsync(handle.fileno())

    def _end_last_line(self) -> None:
        """Remove half a line, or add a missing line feed."""
        with self._journal.open("r+b") as file:
            end = file.seek(0, io.SEEK_END)
            start, tail = end, b""
            while start > 0 and b"\n" not in tail:
                step = min(start, 1 << 16)
                start -= step
                file.seek(start)
                tail = file.read(step) + tail
            rest = tail[tail.rfind(b"\n") + 1 :]
            if is_torn(self._kind, rest):
                file.truncate(end - len(rest))
            elif rest:
                file.seek(end)
                file.write(b"\n")

    def replace(self, lines: Iterable[bytes]) -> None:
        with named("write", str(self._path)):
            with replacing(self._path) as scratch, scratch.open("wb") as file:
                _write(file, lines, parquet=self._parquet)
            if self._parquet:
                self._journal.unlink(missing_ok=True)
        self.close()  # the handle is that of the replaced file

    def close(self) -> None:
        if self._handle is None:
            return
        self._handle.close()
        self._handle = None
        if self._journal.exists() and self._journal.stat().st_size == 0:
            self._journal.unlink()


class ObjectFiles:
    """An object on S3 and its parts.

    Listings may lag: parts that this run wrote or saw need no listing, only parts that were read are deleted, and a
    listed part that is missing has become part of the object.
    """

    def __init__(self, uri: str) -> None:
        self.torn: str | None = None
        self._uri = uri
        self._parquet = uri.lower().endswith(".parquet")
        self._fs = s3_filesystem()
        self._path = uri.removeprefix("s3://")
        self._folder = f"{self._path}.parts"
        self._next: int | None = None
        self._known: set[str] = set()
        self._read: list[str] = []

    def open(self) -> None:
        self._next = max((_part_number(part) for part in self._parts()), default=-1) + 1

    def lines(self) -> Iterator[Line]:
        with named("read", self._uri):
            version = self._version()
            if version is not None:
                yield from self._object_lines(self._path, final=True)
            self._read = []
            for part in self._parts():
                try:
                    yield from self._object_lines(part, final=False)
                    self._read.append(part)
                except FileNotFoundError as error:
                    if self._version() != version:
                        raise SourceError(
                            f"another run finished {self._uri!r} while it was read; read it again"
                        ) from error

    def _version(self) -> str | None:
        """Changes with the object; None if there is none."""
        try:
            return str(self._fs.info(self._path).get("ETag"))
        except FileNotFoundError:
            return None

    def _object_lines(self, path: str, *, final: bool) -> Iterator[Line]:
        with open_object(path) as file:
            if final and self._parquet:
                yield from _parquet_lines(file, self._uri)
                return
            for number, content in enumerate(file, start=1):
                if content.strip():
                    whole = content if content.endswith(b"\n") else content + b"\n"
                    yield Line(whole, f"{path}, line {number}", final=final)

    def append(self, lines: bytes) -> None:
        assert self._next is not None, "open() first"
        # The random suffix keeps simultaneous runs from overwriting each other's parts.
        name = f"{self._folder}/part-{self._next:08d}-{secrets.token_hex(4)}.jsonl"
        with named("write", self._uri):
            self._fs.pipe_file(name, lines)
        self._known.add(name)
        self._next += 1

    def replace(self, lines: Iterable[bytes]) -> None:
        with scratch_file() as scratch:
            with named("write", tempfile.gettempdir()):
                _write(scratch, lines, parquet=self._parquet)
                scratch.flush()
            with named("write", self._uri):
                self._fs.put_file(scratch.name, self._path)
                if self._read:
                    self._fs.rm(self._read)
        self._known -= set(self._read)
        self._read = []

    def close(self) -> None:
        """Nothing to close."""

    def _parts(self) -> list[str]:
        with named("list", self._uri):
            try:
                found = self._fs.ls(self._folder, detail=False)
            except FileNotFoundError:
                found = []
            self._known |= {path for path in found if path.endswith(".jsonl")}
            return sorted(self._known)


def _part_number(path: str) -> int:
    digits = path.rpartition("/")[2].split("-")[1]
    return int(digits) if digits.isdigit() else 0


def _parquet_lines(file: IO[bytes], name: str) -> Iterator[Line]:
    try:
        table = pq.ParquetFile(file)
        number = 0
        for batch in table.iter_batches(batch_size=_ROWS_PER_GROUP):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                number += 1
                yield Line(encode(from_row(Prediction, row)), f"{name}, row {number}", final=True)
    except (pa.ArrowException, ValueError) as error:
        raise SourceError(f"{name!r} is not a Parquet file of predictions: {error}") from error


def _write(file: IO[bytes], lines: Iterable[bytes], *, parquet: bool) -> None:
    if not parquet:
        file.writelines(lines)
        return
    remaining = iter(lines)
    with pq.ParquetWriter(file, PREDICTION_SCHEMA) as writer:
        while group := [json.loads(line) for line in islice(remaining, _ROWS_PER_GROUP)]:
            writer.write_table(pa.Table.from_pylist(group, schema=PREDICTION_SCHEMA))


@contextmanager
def scratch_file() -> Iterator[IO[bytes]]:
    """A named temporary file for the block. Raises SourceError."""
    with named("write", tempfile.gettempdir()):
        scratch = tempfile.NamedTemporaryFile()  # noqa: SIM115 - closed below
    with scratch:
        yield scratch


@contextmanager
def named(verb: str, uri: str) -> Iterator[None]:
    """Turn errors of the file system or S3 into a SourceError that names ``uri``."""
    try:
        yield
    except STORAGE_ERRORS as error:
        raise SourceError(f"cannot {verb} {uri!r}: {error}{room_hint(error)}") from error

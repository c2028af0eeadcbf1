"""Predictions on S3: an object and its parts, since objects cannot be appended to."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable, Iterator

from finray.batch.stored_lines import Line, named, parquet_lines, scratch_file, write_lines
from finray.core.errors import SourceError
from finray.storage.s3 import open_object, s3_filesystem


class ObjectFiles:
    """An object on S3 and its parts.

    Listings may lag. So parts that this run wrote or saw count even if they are not listed, only parts that were read
    are deleted, and a listed part that is missing has become part of the object.
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
        """The ETag of the object, which changes with its content; None if there is no object."""
        try:
            return str(self._fs.info(self._path).get("ETag"))
        except FileNotFoundError:
            return None

    def _object_lines(self, path: str, *, final: bool) -> Iterator[Line]:
        with open_object(path) as file:
            if final and self._parquet:
                yield from parquet_lines(file, self._uri)
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
                write_lines(scratch, lines, parquet=self._parquet)
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

"""Predictions in a folder: one file, locked while it is written."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from finray.batch.stored_lines import Line, named, parquet_lines, write_lines
from finray.core.errors import SourceError
from finray.core.records import is_torn
from finray.storage.atomic import locked, replacing


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
        self._lock()
        for scratch in self._path.parent.glob(f".{glob.escape(self._path.name)}.*.tmp"):
            scratch.unlink()  # left by a run that was killed: it no longer holds the lock

    def _lock(self) -> IO[bytes]:
        """Open the journal for appending and lock it."""
        with named("write", str(self._journal)):
            self._journal.parent.mkdir(parents=True, exist_ok=True)
            handle = locked(self._journal)
        if handle is None:
            raise SourceError(f"another run is writing {str(self._path)!r}; wait, or use another target")
        self._handle = handle
        return handle

    def lines(self) -> Iterator[Line]:
        self.torn = None
        with named("read", str(self._path)):
            if self._parquet and self._path.exists():
                with self._path.open("rb") as file:
                    yield from parquet_lines(file, str(self._path))
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
        handle = self._handle or self._lock()
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
                write_lines(file, lines, parquet=self._parquet)
            if self._parquet:
                self._journal.unlink(missing_ok=True)
        self.close()  # the handle is that of the replaced file

    def close(self) -> None:
        if self._handle is None:
            return
        try:
            if self._journal.exists() and self._journal.stat().st_size == 0:
                self._journal.unlink()
        finally:
            self._handle.close()
            self._handle = None

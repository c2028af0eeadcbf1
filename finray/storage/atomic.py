"""Atomic replacement of files: no reader sees half a file, and no killed writer leaves one. Locks of files."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path, folder: Path | None = None, *, private: bool = False) -> Iterator[Path]:
    """Yield a scratch path beside ``path``, which is flushed and replaces ``path`` if the block succeeds.

    The scratch file lies in ``folder``, if given, on the same file system; a process that is killed leaves it there.
    Only its owner can read a ``private`` file (0600).

    Raises OSError if the folder cannot be written. If the block raises, ``path`` stays as it was.
    """
    folder = folder or path.parent
    for needed in (path.parent, folder):
        needed.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.", suffix=".tmp")
    os.close(descriptor)
    scratch = Path(name)
    try:
        yield scratch
        if not private:  # mkstemp makes it 0600
            scratch.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        sync(scratch)
        scratch.replace(path)
        sync(path.parent)
    finally:
        scratch.unlink(missing_ok=True)


def locked(path: Path) -> IO[bytes] | None:
    """``path``, created if needed, open for appending, and locked (flock) until it is closed or the process ends; None
    if another process holds the lock. Raises OSError."""
    while True:
        handle = path.open("ab")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle.fileno()), path.stat()):
                return handle
        handle.close()  # its last owner has replaced or removed the file since it was opened here


def sync(path: Path) -> None:
    """Flush a file or a folder's entries to disk (fsync)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)  # the only way to read it is to set it
    os.umask(mask)
    return mask

"""Atomic replacement of files: no reader sees half a file, and no killed writer leaves one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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

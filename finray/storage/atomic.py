"""Replacing a file in one step, so that a reader or a killed writer never leaves half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path, folder: Path | None = None, *, private: bool = False) -> Iterator[Path]:
    """Yield a scratch path beside ``path``; when the block ends well, it is flushed and becomes ``path``.

    ``folder``, on the same file system, is where the scratch file lies instead: a process that is killed leaves it.
    A ``private`` file is for its owner alone (0600).

    Raises OSError where the folder cannot be written. When the block raises, ``path`` stays as it was.
    """
    folder = folder or path.parent
    for needed in (path.parent, folder):
        needed.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.", suffix=".tmp")
    os.close(descriptor)
    scratch = Path(name)
    try:
        yield scratch
        # mkstemp makes files private; a result file has the mode of any other new file.
        if not private:
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

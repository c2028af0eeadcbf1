"""Confines a process that reads untrusted documents (a parser, a page renderer) before it reads one.

It may still open installed files for reading, as its libraries do. It cannot write or open other files, use the
network, start processes or threads, or raise its limits.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from finray.sandbox.lockdown import lock_down

_OPEN_FILES = 64
_PACKAGE = str(Path(__file__).resolve().parent.parent)
_SYSTEM = ("/usr", "/lib", "/lib64", "/nix/store", "/gnu/store", "/dev/null", "/dev/urandom")
"""Shared libraries, character sets, fonts, Tesseract's language data."""


def leave_out_layout() -> None:
    """Keep PyMuPDF from importing its unused layout model, which starts four threads that Landlock could not restrict
    and takes half of the startup time. Call this before the import of PyMuPDF."""
    for name in ("pymupdf.layout", "pymupdf4llm"):
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own marker of a missing module


def leave_out_pandas() -> None:
    """Keep pyarrow from importing pandas just to find out that no column is a pandas object: that takes a third of the
    remaining startup time, and 40 MB."""
    if not any(isinstance(finder, _NoPandas) for finder in sys.meta_path):
        sys.meta_path.insert(0, _NoPandas())


class _NoPandas(MetaPathFinder):
    # A None in sys.modules does not work: pyarrow's compiled import takes it for the module.
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left out of this process", name=fullname)


def confine(*, seconds: float, memory_bytes: int, demanded: bool) -> tuple[str, ...]:
    """Confine this process; returns the active layers of "process", "landlock" and "seccomp". It ends with its parent.

    Import everything first. ``seconds`` of processor time and ``memory_bytes`` of address space come on top of what is
    already used. ``demanded``: see ``lock_down``.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    total = memory_bytes + _mapped()  # before /proc becomes unreadable
    readable = [*sys.path, sys.base_prefix, _PACKAGE, *_SYSTEM]
    readable += [os.environ.get("TESSDATA_PREFIX", ""), *os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)]
    layers = lock_down(
        "read",
        seconds=usage.ru_utime + usage.ru_stime + seconds,
        memory_bytes=total,
        open_files=_OPEN_FILES,
        readable=[path for path in readable if path],
        watcher=threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True),
        demanded=demanded,
    )
    return tuple(layers)


def _mapped() -> int:
    """Bytes of address space in use."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except FileNotFoundError:  # not Linux
        return 0


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(2.0)
    os._exit(1)

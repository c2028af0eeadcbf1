"""What a process that reads documents of strangers (a parser, a drawer of pages) gives up before it reads one.

It keeps what its libraries need: to open installed files for reading. No writing, no other files, no network, no
further process or thread, no limit that it could raise.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from pathlib import Path

from finray.sandbox.lockdown import lock_down

_OPEN_FILES = 64
_PACKAGE = str(Path(__file__).resolve().parent.parent)
_SYSTEM = ("/usr", "/lib", "/lib64", "/nix/store", "/gnu/store", "/dev/null", "/dev/urandom")
"""Shared libraries, character sets, fonts, Tesseract's language data."""


def leave_out_layout() -> None:
    """Keep PyMuPDF from importing its layout model, which nothing here uses: it starts four threads, which Landlock
    could not bind, and takes half the start. Call it before PyMuPDF is imported."""
    for name in ("pymupdf.layout", "pymupdf4llm"):
        sys.modules[name] = None  # type: ignore[assignment]  # as Python itself says that there is none


def confine(*, seconds: float, memory_bytes: int, demanded: bool) -> tuple[str, ...]:
    """The layers that hold from now on, of "process", "landlock" and "seccomp". The process ends when its parent does.

    Import first, as much as will be needed. ``seconds`` of processor time and ``memory_bytes`` of address space come on
    top of what is used already. ``demanded``: see ``lock_down``.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    total = memory_bytes + _mapped()  # read while /proc still can be
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
    except FileNotFoundError:  # no Linux
        return 0


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(2.0)
    os._exit(1)

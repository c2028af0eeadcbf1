"""Tries to break out of its confinement and reports what succeeded, for `finray doctor`."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence

Attempts = Mapping[str, Callable[[], object]]


def attempts() -> Attempts:
    """What a program that broke out of the language would try. Call this before lockdown: it imports modules."""
    import socket

    return {
        "open a file": lambda: os.open("/etc/passwd" if os.path.exists("/etc/passwd") else "/", os.O_RDONLY),  # noqa: PTH110
        "open a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "start a process": _fork,
        "take 1 GiB of memory": lambda: len(bytearray(1 << 30)),
        "list a folder": lambda: os.listdir("/"),  # noqa: PTH208
    }


def attempts_of_a_reader() -> Attempts:
    """What a document that took over its parser would try."""
    import resource

    parent = f"/proc/{os.getppid()}/environ"
    wider = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    return {
        **{name: attempt for name, attempt in attempts().items() if "memory" not in name},
        "read the environment of its parent": lambda: os.open(parent, os.O_RDONLY),
        "write a file": _write,
        "signal its parent": lambda: os.kill(os.getppid(), 0),
        "raise its limits": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, wider),
    }


def escapes(tried: Attempts) -> list[str]:
    """The names of the attempts that succeed."""
    succeeded = []
    for name, attempt in tried.items():
        with contextlib.suppress(OSError, ValueError, MemoryError, AttributeError):  # WASI has no fork
            attempt()
            succeeded.append(name)
    return succeeded


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _write() -> None:
    path = f"/tmp/finray-doctor-{os.getpid()}"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)  # noqa: PTH108


def main(arguments: Sequence[str]) -> None:
    """Confine this process like a parser, and write ``lockdown.READY`` and ``{"layers": [...], "escapes": [...]}``."""
    from finray.sandbox import reader
    from finray.sandbox.lockdown import READY

    tried = attempts_of_a_reader()
    layers = reader.confine(seconds=10.0, memory_bytes=1 << 30, demanded="demanded" in arguments)
    os.write(1, READY + json.dumps({"layers": layers, "escapes": escapes(tried)}).encode())

"""What a child gives up before it reads anything: resources (rlimits), files (Landlock), system calls (seccomp)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from finray.sandbox.file_access import allow_only
from finray.sandbox.system_calls import Profile, system_call_filter

NO_FILTER = 78
"""Exit status of a process that does not go on without a filter of system calls (EX_CONFIG of sysexits.h)."""


def lock_down(
    profile: Profile,
    *,
    seconds: float,
    memory_bytes: int,
    open_files: int,
    readable: Sequence[str] = (),
    watcher: threading.Thread | None = None,
    demanded: bool = False,
) -> list[str]:
    """The layers that hold from now on, of "process" (rlimits), "landlock" and "seccomp". Ends the process where the
    filter of system calls cannot be put on although it is ``demanded``.

    ``seconds`` of processor time and ``memory_bytes`` of address space are counted from the process's start.
    ``readable`` are the folders and files that may be opened, ``watcher`` is the last thread to be started.
    """
    import resource  # noqa: F401  # WASI has none, and once files are closed it is too late

    apply_filter = system_call_filter(profile)
    layers = ["process"]
    if allow_only(readable):
        layers.append("landlock")
    if watcher is not None:
        watcher.start()
    limit_resources(seconds, memory_bytes, open_files)
    if apply_filter is not None and apply_filter():
        layers.append("seccomp")
    elif demanded:
        raise SystemExit(NO_FILTER)
    return layers


def limit_resources(seconds: float, memory_bytes: int, open_files: int) -> None:
    """Hard rlimits, which neither the child nor a process of its could raise without privilege.

    RLIMIT_NOFILE of 0 leaves the open pipes usable and opens nothing more: no file, no socket.
    """
    import resource

    for kind, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, max(1, int(seconds + 0.999))),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, open_files),
    ):
        # A lower hard limit that is already in force stays; to raise it is not ours.
        _, hard = resource.getrlimit(kind)
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (wanted, wanted))

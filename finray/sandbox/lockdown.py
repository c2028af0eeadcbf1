"""Locks a child down before it reads input: resources (rlimits), files (Landlock), system calls (seccomp)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from finray.sandbox.file_access import allow_only
from finray.sandbox.system_calls import Profile, system_call_filter

READY = b"R"
"""First byte that a child writes: it is locked down, so the clock may start."""
NO_FILTER = 78
"""Exit status of a process that requires a system-call filter and has none (EX_CONFIG of sysexits.h)."""


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
    """Confine this process; returns the active layers of "process" (rlimits), "landlock" and "seccomp".

    ``seconds`` of processor time and ``memory_bytes`` of address space count from the start of the process. The folders
    and files ``readable`` may still be opened; ``watcher`` is the last thread to start. Exits if the system-call filter
    is ``demanded`` and not available.
    """
    import resource  # not at module level: WASI has none; and after lockdown it cannot be loaded

    apply_filter = system_call_filter(profile)
    layers = ["process"]
    if allow_only(readable):
        layers.append("landlock")
    if watcher is not None:
        watcher.start()
    for kind, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, max(1, int(seconds + 0.999))),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, open_files),  # with 0 the open pipes stay usable
    ):
        # Hard limits, which cannot be raised without privilege. Keep one that is already lower.
        _, hard = resource.getrlimit(kind)
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (wanted, wanted))
    if apply_filter is not None and apply_filter():
        layers.append("seccomp")
    elif demanded:
        raise SystemExit(NO_FILTER)
    return layers

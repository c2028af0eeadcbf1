"""Restricts which files a process may open, enforced by the kernel (Landlock, Linux 5.13 and later; landlock(7)).

A system-call filter cannot see the path of a call. Landlock can, and it also closes ``/proc`` of other processes, whose
environment a process of the same user could otherwise read. It needs no privilege.
"""

# ruff: noqa: PTH112, PTH208  # pathlib would take a sixth of the startup time
from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System call numbers, the same on every architecture."""
_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_ACCESS = (1 << 13) - 1
"""The rights of the first version: execute, read, write, create and remove files and folders."""
_LATER_FILE_ACCESS = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""By version: link across folders, truncate, control devices."""
_TCP = 3
_SCOPES = 3
"""Abstract sockets and signals: only within this process."""
_PR_SET_NO_NEW_PRIVS = 38


def allow_only(readable: Sequence[str]) -> bool:
    """Restrict this process for good to reading the files and folders ``readable``.

    Returns False if that failed: no Landlock in the kernel, or other threads, which the calling one cannot restrict.
    """
    if sys.platform != "linux" or _threads() != 1:
        return False
    try:
        import ctypes
    except ImportError:
        return False
    library = ctypes.CDLL(None, use_errno=True)

    class Ruleset(ctypes.Structure):
        _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]

    class Beneath(ctypes.Structure):
        _pack_ = 1
        _fields_ = [("access", ctypes.c_uint64), ("folder", ctypes.c_int32)]

    version = library.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    files = _FILE_ACCESS | sum(access for since, access in _LATER_FILE_ACCESS.items() if version >= since)
    ruleset = Ruleset(files, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = ctypes.c_size_t(24 if version >= 6 else 16 if version >= 4 else 8)
    rules = library.syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    if rules < 0:
        return False
    try:
        for path in dict.fromkeys(readable):
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # missing
            access = _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0)
            added = library.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(Beneath(access, opened)), 0)
            os.close(opened)
            if added != 0:
                return False
        if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            return False
        return bool(library.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except FileNotFoundError:  # a namespace without /proc, in which a process has just started
        return 1

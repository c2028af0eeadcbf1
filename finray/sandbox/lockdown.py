"""What the child gives up before it reads a program: resources (rlimits) and system calls (seccomp).

The filter is put on by the child itself, which needs no privilege once it has renounced new ones (prctl(2),
PR_SET_NO_NEW_PRIVS). It is an allow-list, so a system call that a later kernel adds is refused too.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Callable

_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_RET_KILL_PROCESS = 0x80000000
_RET_ERRNO = 0x00050000
_RET_ALLOW = 0x7FFF0000

# read, write, close; memory; futex; signals' return; clocks and random numbers; exit. From the kernel's tables
# (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
_ALLOWED = {
    "x86_64": (0xC000003E, (0, 1, 3, 9, 10, 11, 12, 14, 15, 24, 25, 28, 60, 202, 228, 231, 318)),
    "aarch64": (0xC00000B7, (63, 64, 57, 222, 226, 215, 214, 135, 139, 124, 216, 233, 93, 98, 113, 94, 278)),
}
"""By machine: the audit architecture and the numbers of the allowed system calls."""


def limit_resources(seconds: float, memory_bytes: int) -> None:
    """rlimits that neither the child nor a process of its could raise without privilege.

    RLIMIT_NOFILE of 0 leaves the open pipes usable and opens nothing more: no file, no socket.
    """
    import resource

    cpu = max(1, int(seconds + 0.999))
    for kind, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 0),
    ):
        # A lower hard limit that is already in force stays; to raise it is not ours.
        _, hard = resource.getrlimit(kind)
        wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (wanted, wanted))


def system_call_filter() -> Callable[[], bool] | None:
    """A function that allows from then on only what computing and answering need, and says whether that is so;
    None where this machine has no such filter. Make it before the limits: it opens a library.
    """
    machine = os.uname().machine if sys.platform == "linux" else ""
    if machine not in _ALLOWED:
        return None
    try:
        import ctypes
    except ImportError:
        return None
    code = _filter(*_ALLOWED[machine])

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    program = Program(len(code) // 8, code)
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def apply() -> bool:
        if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            return False
        return bool(prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)

    return apply


def _filter(architecture: int, numbers: tuple[int, ...]) -> bytes:
    """Classic BPF over ``struct seccomp_data``: the number at offset 0, the architecture at 4."""
    load, equal, give = 0x20, 0x15, 0x06

    def instruction(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
        return struct.pack("=HBBI", code, when_true, when_false, value)

    lines = [
        instruction(load, 4),
        instruction(equal, architecture, 1, 0),
        instruction(give, _RET_KILL_PROCESS),
        instruction(load, 0),
    ]
    for position, number in enumerate(numbers):
        lines.append(instruction(equal, number, len(numbers) - position, 0))
    lines.append(instruction(give, _RET_ERRNO | errno.EPERM))
    lines.append(instruction(give, _RET_ALLOW))
    return b"".join(lines)

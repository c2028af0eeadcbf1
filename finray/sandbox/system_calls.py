"""System-call filters (seccomp) that a process applies to itself. That needs no privilege once the process has given up
gaining any (prctl(2), PR_SET_NO_NEW_PRIVS).

A filter is an allow-list, so it also refuses system calls of later kernels: no sockets, no new processes, no ptrace, no
higher limits.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

Profile = Literal["compute", "read"]
"""``compute``: read and write open files, allocate, exit. ``read``: also open files for reading."""

_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_FILTER_FLAG_TSYNC = 1
_RET_KILL_PROCESS = 0x80000000
_RET_ERRNO = 0x00050000
_RET_ALLOW = 0x7FFF0000
_WHOLE = 0xFFFFFFFF

_ARCHITECTURES = {"x86_64": (0xC000003E, 317), "aarch64": (0xC00000B7, 277)}
"""By machine: its audit architecture and the number of seccomp(2)."""
_ARM, _X86 = 1, 0

_COMPUTE: dict[str, tuple[int | None, int | None]] = {
    **{"read": (0, 63), "write": (1, 64), "close": (3, 57), "mmap": (9, 222), "mprotect": (10, 226)},
    **{"munmap": (11, 215), "brk": (12, 214), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139)},
    **{"sched_yield": (24, 124), "mremap": (25, 216), "madvise": (28, 233), "exit": (60, 93), "futex": (202, 98)},
    **{"clock_gettime": (228, 113), "exit_group": (231, 94), "getrandom": (318, 278)},
}
_READ: dict[str, tuple[int | None, int | None]] = _COMPUTE | {
    **{"open": (2, None), "openat": (257, 56), "stat": (4, None), "fstat": (5, 80), "lstat": (6, None)},
    **{"newfstatat": (262, 79), "statx": (332, 291), "access": (21, None), "faccessat": (269, 48)},
    **{"faccessat2": (439, 439), "readlink": (89, None), "readlinkat": (267, 78), "getdents64": (217, 61)},
    **{"getcwd": (79, 17), "lseek": (8, 62), "pread64": (17, 67), "readv": (19, 65), "writev": (20, 66)},
    **{"dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "fcntl": (72, 25), "ioctl": (16, 29)},
    **{"poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72)},
    **{"nanosleep": (35, 101), "clock_nanosleep": (230, 115), "clock_getres": (229, 114), "time": (201, None)},
    **{"gettimeofday": (96, 169), "times": (100, 153), "setitimer": (38, 103), "rt_sigaction": (13, 134)},
    **{"sigaltstack": (131, 132), "tgkill": (234, 131), "getpid": (39, 172), "getppid": (110, 173)},
    **{"gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176)},
    **{"getegid": (108, 177), "uname": (63, 160), "sysinfo": (99, 179), "getrusage": (98, 165)},
    **{"getrlimit": (97, 163), "prlimit64": (302, 261), "sched_getaffinity": (204, 123)},
    **{"set_robust_list": (273, 99), "membarrier": (324, 283), "rseq": (334, 293)},
}
"""Numbers on x86-64 and arm64, from the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl,
include/uapi/asm-generic/unistd.h); None if a machine has no such call."""
_PROFILES = {"compute": _COMPUTE, "read": _READ}
_CLONE3 = 435


class _Check(NamedTuple):
    """An argument of a call, its lower 32 bits (``upper``: the others) under ``mask``, is one of ``values``."""

    argument: int
    values: tuple[int, ...]
    mask: int = _WHOLE
    upper: bool = False


_WRITING = 0o3 | 0o100 | 0o1000  # O_WRONLY and O_RDWR, O_CREAT, O_TRUNC
_CHECKS: dict[str, tuple[_Check, ...]] = {
    "open": (_Check(1, (0,), _WRITING),),
    "openat": (_Check(2, (0,), _WRITING),),
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC; F_SETOWN would send signals
    "fcntl": (_Check(1, (0, 1, 2, 3, 4, 1030)),),
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONCLEX, FIOCLEX; TIOCSTI would type into a terminal
    "ioctl": (_Check(1, (0x5401, 0x5413, 0x541B, 0x5450, 0x5451)),),
    # only reads limits: the pointer to new ones is null
    "prlimit64": (_Check(2, (0,)), _Check(2, (0,), upper=True)),
}
"""Conditions on the arguments of calls that can do more than a reader needs."""


def system_call_filter(profile: Profile) -> Callable[[], bool] | None:
    """A function that restricts all threads to ``profile`` and returns whether that succeeded; None if this machine has
    no such filter. Call this before limits on files, because it loads a library."""
    machine = os.uname().machine if sys.platform == "linux" else ""
    if machine not in _ARCHITECTURES:
        return None
    try:
        import ctypes
    except ImportError:
        return None
    architecture, number = _ARCHITECTURES[machine]
    column = _X86 if machine == "x86_64" else _ARM
    checks = _CHECKS | {"tgkill": (_Check(0, (os.getpid(),)),)}  # how a process aborts
    calls = [(numbers[column], checks.get(name, ())) for name, numbers in _PROFILES[profile].items()]
    code = _program(architecture, [(call, conditions) for call, conditions in calls if call is not None])

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    program = Program(len(code) // 8, code)
    library = ctypes.CDLL(None, use_errno=True)

    def apply() -> bool:
        if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            return False
        arguments = (_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC, ctypes.byref(program))
        return bool(library.syscall(number, *arguments) == 0)

    return apply


def _program(architecture: int, calls: Sequence[tuple[int, tuple[_Check, ...]]]) -> bytes:
    """Classic BPF over ``struct seccomp_data``: the call's number at offset 0, the architecture at 4, arguments of 8
    bytes from 16, little-endian. Every call has a block that ends in a verdict, so jumps are short."""
    load, equal, mask_with, give = 0x20, 0x15, 0x54, 0x06

    def instruction(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
        return struct.pack("=HBBI", code, when_true, when_false, value)

    refuse = instruction(give, _RET_ERRNO | errno.EPERM)
    allow = instruction(give, _RET_ALLOW)
    lines = [
        instruction(load, 4),
        instruction(equal, architecture, 1, 0),
        instruction(give, _RET_KILL_PROCESS),
        instruction(load, 0),
        # ENOSYS makes the C library fall back to clone(2), whose refusal it understands.
        instruction(equal, _CLONE3, 0, 1),
        instruction(give, _RET_ERRNO | errno.ENOSYS),
    ]
    for number, checks in calls:
        block: list[bytes] = []
        for check in checks:
            block.append(instruction(load, 16 + 8 * check.argument + (4 if check.upper else 0)))
            if check.mask != _WHOLE:
                block.append(instruction(mask_with, check.mask))
            count = len(check.values)
            block += [instruction(equal, value, count - at, 0) for at, value in enumerate(check.values)]
            block.append(refuse)
        block.append(allow)
        lines += [instruction(equal, number, 0, len(block)), *block]
    return b"".join([*lines, refuse])

"""Starts the processes that handle untrusted input: parsers, page images, programs that a language model wrote.

They get only the environment listed here, so no key or token of this process; Python in isolated mode, so no module
from the working folder or PYTHONPATH; no open files but three pipes; and a session of their own. They drop their other
rights themselves (``finray.sandbox.reader``, ``finray.sandbox.child``) before they read anything.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from finray.core.errors import SettingsError
from finray.core.settings import SandboxSettings

BOOT = Path(__file__).resolve().with_name("boot.py")
_FLAGS = ("-I", "-S", "-W", "ignore")
_KEPT = ("LD_LIBRARY_PATH", "TESSDATA_PREFIX")
"""The folders of shared libraries and of Tesseract's language data."""
_SET = {
    # Arrow's own allocator starts a thread and maps a gigabyte at once, which would count against the limit.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "OMP_NUM_THREADS": "1",
}
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_RELAYED_BYTES = 64 * 1024


def command(module: str, *arguments: str, packages: bool = True, python: str = sys.executable) -> tuple[str, ...]:
    """The command that runs ``main(arguments)`` of ``module``, which sees installed packages only if ``packages``."""
    folders = [path for path in sys.path if Path(path).name in _PACKAGE_FOLDERS] if packages else []
    bytecode = ("-B",) if sys.dont_write_bytecode else ()
    return (python, *_FLAGS, *bytecode, str(BOOT), os.pathsep.join(folders), module, *arguments)


def environment(ours: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a confined process, taken from ``ours``."""
    return _SET | {name: _absolute(ours[name]) for name in _KEPT if ours.get(name)}


def start(command: Sequence[str], *, relayed: bool = False) -> subprocess.Popen[bytes]:
    """A child with pipes for its standard input and output. Its standard error is discarded, or a pipe if ``relayed``
    (see :class:`Relay`)."""
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if relayed else subprocess.DEVNULL,
        env=environment(),
        cwd="/",
        start_new_session=True,
    )


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and all that it started, in any state, and close its pipes."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def filter_demanded(settings: SandboxSettings) -> bool:
    """Whether ``sandbox.isolation`` requires the system-call filter."""
    return settings.isolation in ("seccomp", "bubblewrap")


def no_filter() -> SettingsError:
    """The error for a child that exited with ``lockdown.NO_FILTER``."""
    return SettingsError(
        "sandbox.isolation demands a filter of system calls, which this machine does not allow (seccomp: Linux on "
        "x86-64 or arm64, and not in a container whose own filter forbids it); set 'auto' to run without it"
    )


class Relay(threading.Thread):
    """Copies a child's standard error to ours: at most 64 KB, without control characters, which could control a
    terminal. ``last`` is the last line."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        super().__init__(name=f"stderr of {child.pid}", daemon=True)
        assert child.stderr is not None
        self._stream = child.stderr
        self.last = ""
        self.start()

    def run(self) -> None:
        left = _RELAYED_BYTES
        with self._stream:
            while part := os.read(self._stream.fileno(), _RELAYED_BYTES):
                text = part[:left].decode(errors="replace")
                left = max(0, left - len(part))
                shown = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
                self.last = next((line for line in reversed(shown.splitlines()) if line.strip()), self.last)
                try:
                    os.write(2, shown.encode())
                except OSError:
                    left = 0  # ours is closed; keep reading, or the child would block


def _absolute(folders: str) -> str:
    """Absolute paths, because the child has another working folder."""
    return os.pathsep.join(str(Path(folder).absolute()) for folder in folders.split(os.pathsep) if folder)

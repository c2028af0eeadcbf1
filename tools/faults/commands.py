"""Starts finray's commands as processes without start-up time, so that tests can start and kill hundreds.

Each command is forked from a Python process that has imported all of finray (multiprocessing's forkserver, which has
only its main thread). It then works and dies like any other process.
"""

from __future__ import annotations

import datetime as dt
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_PRELOADED = "tools.faults.preload"
_GONE_SECONDS = 40.0
"""How long children of a killed command may take to notice: a parser checks for its parent every two seconds after it
has started, which takes long on a busy machine."""


@dataclass(frozen=True, slots=True)
class Ended:
    """``code`` is the exit status, negative for a signal."""

    code: int
    said: str
    seconds: float

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL

    @property
    def crashed(self) -> bool:
        """Whether it ended with an unexpected error."""
        # Children of a killed command may report a broken pipe.
        return not self.killed and ("Traceback (most recent call last)" in self.said or self.code not in (0, 1, 2))


class Command:
    """A running ``finray`` command. Its output goes to ``log``; a sync uses ``now`` as the current time."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], log: Path, now: dt.datetime | None = None
    ) -> None:
        self.arguments = tuple(arguments)
        self._log = log
        self._started = time.monotonic()
        self._process: Any = _context().Process(target=_run, args=(self.arguments, dict(environment), str(log), now))
        self._process.start()

    @property
    def pid(self) -> int:
        return int(self._process.pid)

    def running(self) -> bool:
        return bool(self._process.is_alive())

    def kill(self) -> None:
        """``kill -9`` the command, without its children, as the system does if memory runs out."""
        self._process.kill()

    def wait(self, seconds: float = 120.0) -> Ended:
        """Wait for its end. If it does not end in time, kill it and raise TimeoutError."""
        self._process.join(seconds)
        took = time.monotonic() - self._started
        if self._process.is_alive():
            self.kill()
            self._process.join()
            raise TimeoutError(f"finray {' '.join(self.arguments)} did not end in {seconds:.0f} s:\n{self._said()}")
        return Ended(int(self._process.exitcode), self._said(), took)

    def left_running(self) -> list[int]:
        """Processes of the command that outlive it by more than the time to notice."""
        deadline = time.monotonic() + _GONE_SECONDS
        while (left := _session(self.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left

    def _said(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""


def run(arguments: Sequence[str], environment: Mapping[str, str], log: Path, seconds: float = 120.0) -> Ended:
    return Command(arguments, environment, log).wait(seconds)


def start_server(environment: Mapping[str, str]) -> None:
    """Start the Python process that commands are forked from, with these variables, which edgartools reads on import.
    Call it once, before the first command."""
    os.environ.update(environment)
    context = _context()
    context.set_forkserver_preload([_PRELOADED])
    first: Any = context.Process(target=_nothing)
    first.start()
    first.join()
    if first.exitcode != 0:
        raise RuntimeError(f"the fork server does not start: exit status {first.exitcode}")


def _context() -> Any:
    return multiprocessing.get_context("forkserver")


def _nothing() -> None:
    """Does nothing; its process ends after the imports."""


def _run(arguments: tuple[str, ...], environment: dict[str, str], log: str, now: dt.datetime | None) -> None:
    os.setsid()
    os.environ.update(environment)
    tempfile_folder = environment.get("TMPDIR")
    if tempfile_folder:
        import tempfile

        tempfile.tempdir = None  # reset the cached value
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
    from tools.faults.preload import finray_main

    if now is not None:
        _set_clock(now)
    sys.argv = ["finray", *arguments]
    finray_main()


def _set_clock(moment: dt.datetime) -> None:
    """Set the clock of a sync, which reads it once; Lance's timestamps stay real."""
    import finray.edgar.sync as command

    class Clock(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Clock:
            return cls.fromtimestamp(moment.timestamp(), tz)

    vars(command)["dt"] = SimpleNamespace(datetime=Clock, date=dt.date, UTC=dt.UTC)


def _session(leader: int) -> list[int]:
    """Processes of the session of ``leader``, without zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found

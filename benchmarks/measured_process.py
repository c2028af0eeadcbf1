"""Run a command and measure it with all its child processes: time, CPU time, peak memory. Linux only.

Memory is the proportional set size, summed over the processes: shared memory (Ray's object store, mapped weights)
counts once. Reading it costs time, so it is sampled only once a second.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import psutil

_SAMPLE_SECONDS = 1.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Measurement:
    """``cpu_seconds`` is the sum over processes (the last second of each may be missing); ``others_cpu`` is the share
    of the machine's CPUs (0 to 1) that other work used; ``output`` is the last JSON object that the command printed."""

    seconds: float
    cpu_seconds: float
    others_cpu: float
    peak_bytes: int
    output: dict[str, Any]


class CommandFailedError(RuntimeError):
    """The command ended with an unexpected status, or printed no JSON object."""


def measure(command: Sequence[str], environment: Mapping[str, str], *, accepted: Sequence[int] = (0,)) -> Measurement:
    """Run ``command`` with exactly ``environment``. Raises CommandFailedError with the end of its output."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        busy = _busy_seconds()
        started = time.perf_counter()
        child = subprocess.Popen(command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        tree = _Tree(psutil.Process(child.pid))
        try:
            while child.poll() is None:
                tree.sample()
                _wait(child, _SAMPLE_SECONDS)
        finally:
            tree.kill()
        seconds = time.perf_counter() - started
        others = max(0.0, _busy_seconds() - busy - tree.cpu_seconds) / (seconds * (os.cpu_count() or 1))
        output, errors = _text(out), _text(err)
    documents = [line for line in output.splitlines() if line.startswith("{")]
    if child.returncode not in accepted or not documents:
        missing = "" if documents else ", and no JSON object in its output"
        end = f"{output[-2000:]}\n{errors[-4000:]}"
        raise CommandFailedError(f"{' '.join(command)}: exit status {child.returncode}{missing}\n{end}")
    return Measurement(seconds, tree.cpu_seconds, others, tree.peak_bytes, json.loads(documents[-1]))


class _Tree:
    """A process and its descendants."""

    def __init__(self, root: psutil.Process) -> None:
        self._root = root
        self._seen: dict[psutil.Process, float] = {}
        self.peak_bytes = 0

    @property
    def cpu_seconds(self) -> float:
        return sum(self._seen.values())

    def sample(self) -> None:
        memory = 0
        for process in self._living():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                times = process.cpu_times()
                self._seen[process] = times.user + times.system
                memory += process.memory_full_info().pss
        self.peak_bytes = max(self.peak_bytes, memory)

    def kill(self) -> None:
        """Kill the remaining processes, also of an interrupted run."""
        for process in {*self._living(), *self._seen}:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()  # psutil does not kill a new process with a reused id

    def _living(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return [self._root, *self._root.children(recursive=True)]
        return []


def _wait(child: subprocess.Popen[bytes], seconds: float) -> None:
    """Poll until the child ends or ``seconds`` have passed; ``Popen.wait`` with a timeout polls no faster."""
    deadline = time.perf_counter() + seconds
    while child.poll() is None and time.perf_counter() < deadline:
        time.sleep(_POLL_SECONDS)


def _busy_seconds() -> float:
    """Busy CPU seconds of the whole machine so far."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - times.iowait - times.guest - times.guest_nice)


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")

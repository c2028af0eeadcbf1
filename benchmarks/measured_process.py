"""Run a command to its end and measure it and every process it starts: time, processor time, peak memory. Linux only.

Memory is the proportional set size, added over the processes: what they share (Ray's object store, mapped weights)
counts once. It is sampled, and reading it costs time, hence not more than once a second.
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
    """``cpu_seconds`` add up over processes (what one uses in its last second may be missing); ``others_cpu`` is the
    share of the machine's processors (0 to 1) that other work took meanwhile; ``output`` is the JSON object that the
    command printed last."""

    seconds: float
    cpu_seconds: float
    others_cpu: float
    peak_bytes: int
    output: dict[str, Any]


class CommandFailedError(RuntimeError):
    """The command ended with an unexpected status, or printed no JSON object."""


def measure(command: Sequence[str], environment: Mapping[str, str], *, accepted: Sequence[int] = (0,)) -> Measurement:
    """Run ``command`` with ``environment`` alone. Raises CommandFailedError with the end of what it said."""
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
        said, complained = _text(out), _text(err)
    documents = [line for line in said.splitlines() if line.startswith("{")]
    if child.returncode not in accepted or not documents:
        missing = "" if documents else ", and no JSON object among what it printed"
        end = f"{said[-2000:]}\n{complained[-4000:]}"
        raise CommandFailedError(f"{' '.join(command)}: exit status {child.returncode}{missing}\n{end}")
    return Measurement(seconds, tree.cpu_seconds, others, tree.peak_bytes, json.loads(documents[-1]))


class _Tree:
    """A process and all that descend from it."""

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
        """End what is left, also of a run that was broken off."""
        for process in {*self._living(), *self._seen}:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()  # psutil sees to it that a process id that was given anew is spared

    def _living(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return [self._root, *self._root.children(recursive=True)]
        return []


def _wait(child: subprocess.Popen[bytes], seconds: float) -> None:
    """Until the child ends or ``seconds`` have passed, polling: ``Popen.wait`` with a timeout polls no finer."""
    deadline = time.perf_counter() + seconds
    while child.poll() is None and time.perf_counter() < deadline:
        time.sleep(_POLL_SECONDS)


def _busy_seconds() -> float:
    """Processor seconds of the whole machine so far that were not idle."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - times.iowait - times.guest - times.guest_nice)


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")

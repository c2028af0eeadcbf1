"""CPU seconds of a command by kind of process: the driver, Ray's own processes, and each stage's workers. Linux only.

A worker of Ray has the name of the task that it runs, so what it used since the last sample counts for the task it runs
now: with samples twice a second, work of a few milliseconds at a time is attributed by chance, and sums are right.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

_SAMPLE_SECONDS = 0.5
_NOTE_SECONDS = 30.0
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_KINDS = {
    "parser_process": "parser",
    "read_and_parse": "read and send",
    "Embedder": "embed",
    "_write": "write",
    "AttemptsHere": "attempts",
    "ray::": "other tasks",
    "gcs_server": "Ray",
    "raylet": "Ray",
    "ray/_private": "Ray",
    "ray/dashboard": "Ray",
    "default_worker": "idle workers",
}
DRIVER = "driver"


@dataclass(frozen=True, slots=True)
class Run:
    """``cpu_seconds`` by kind of process (those of the last half second of a process may be missing), ``peak_bytes``
    the largest sum of resident memory, which counts shared memory once for each process; ``output`` the last JSON
    object that the command printed."""

    seconds: float
    cpu_seconds: dict[str, float]
    peak_bytes: int
    status: int
    output: dict[str, Any]


def run(command: Sequence[str], environment: Mapping[str, str], log: Path) -> Run:
    """Run ``command`` with its output in ``log``, and every half minute the CPU seconds so far and the last line of the
    output in ``log.cpu``. Raises RuntimeError if it printed no JSON object."""
    started = time.perf_counter()
    with log.open("wb") as out:
        child = subprocess.Popen(command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        root = psutil.Process(child.pid)
        seen: dict[tuple[int, float], float] = {}
        used: defaultdict[str, float] = defaultdict(float)
        peak, noted = 0, started
        try:
            while child.poll() is None:
                peak = max(peak, _sample(root, seen, used))
                if time.perf_counter() - noted > _NOTE_SECONDS:
                    noted = time.perf_counter()
                    _note(log, noted - started, used)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(_SAMPLE_SECONDS)
        finally:
            if child.poll() is None:
                child.terminate()
                child.wait()
            _note(log, time.perf_counter() - started, used)
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.startswith("{")]
    if not lines:
        raise RuntimeError(f"{' '.join(command)}: exit status {child.returncode} and no JSON object; see {log}")
    return Run(time.perf_counter() - started, dict(used), peak, child.returncode, json.loads(lines[-1]))


def _sample(root: psutil.Process, seen: dict[tuple[int, float], float], used: defaultdict[str, float]) -> int:
    """Add what each process has used since the last sample; returns the resident bytes of all."""
    resident = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in (root, *root.children(recursive=True)):
            with contextlib.suppress(OSError, psutil.NoSuchProcess, IndexError):
                folder = Path("/proc", str(process.pid))
                fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                spent = (int(fields[11]) + int(fields[12])) / _TICKS
                key = (process.pid, process.create_time())
                kind = DRIVER if process.pid == root.pid else _kind((folder / "cmdline").read_bytes())
                used[kind] += spent - seen.get(key, 0.0)
                seen[key] = spent
                resident += int(fields[21]) * _PAGE
    return resident


def noted(log: Path) -> tuple[float, dict[str, float]]:
    """Seconds and CPU seconds of all runs with this log so far, also of those that were stopped."""
    notes = [json.loads(line) for line in log.with_name(f"{log.name}.cpu").read_text(encoding="utf-8").splitlines()]
    # The next run counts from the start again.
    last = [
        one
        for one, after in zip(notes, [*notes[1:], None], strict=True)
        if not after or after["seconds"] < one["seconds"]
    ]
    by = Counter[str]()
    for one in last:
        by.update(one["by"])
    return sum(one["seconds"] for one in last), dict(by)


def _note(log: Path, seconds: float, used: Mapping[str, float]) -> None:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-1:]
    note = {"seconds": seconds, "cpu_seconds": sum(used.values()), "by": dict(used), "output": lines}
    with log.with_name(f"{log.name}.cpu").open("a", encoding="utf-8") as notes:
        notes.write(json.dumps(note) + "\n")


def _kind(command: bytes) -> str:
    text = command.replace(b"\0", b" ").decode("utf-8", "replace")
    return next((kind for part, kind in _KINDS.items() if part in text), "other")

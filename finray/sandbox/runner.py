"""Runs one program of thought in a child process and returns what it computed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from finray.core.errors import SandboxError
from finray.core.settings import SandboxSettings
from finray.sandbox import confined, limits, pipes
from finray.sandbox.language import check_name, read_source
from finray.sandbox.launch import Launcher, launcher
from finray.sandbox.limits import Fault
from finray.sandbox.lockdown import NO_FILTER, READY

START_SECONDS = 20.0
"""Time for the child to start, even on a busy machine; the program's own clock starts after that."""
_PROBE_SECONDS = 10.0
_ANSWER_BYTES = limits.RESULT_CHARACTERS + 4_096

Scalar = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """``value`` is that of ``answer`` (or ``ans``, ``result``), otherwise of the last statement. ``variables`` are what
    the program assigned, in order; tuples become lists, and dict keys texts. ``ungrounded`` are the numbers that
    ``value`` was computed from that are neither figures nor scales, divisors or counts (``finray.sandbox.provenance``).
    ``seconds`` include starting the process.
    """

    value: Any
    variables: Mapping[str, Any]
    ungrounded: tuple[int | float, ...]
    layers: tuple[str, ...]
    seconds: float


class Sandbox:
    """Runs programs, at most one per processor at a time. Thread-safe.

    Raises SettingsError if this machine does not support ``sandbox.isolation``.
    """

    def __init__(self, settings: SandboxSettings | None = None) -> None:
        self._settings = settings or SandboxSettings()
        self.launcher = launcher(self._settings)
        self._slots = threading.BoundedSemaphore(max(1, os.cpu_count() or 1))
        if confined.filter_demanded(self._settings):
            self.run("0")  # fail now, and not at the first question with a program

    def run(
        self, source: str, variables: Mapping[str, Scalar] | None = None, figures: Collection[float] = ()
    ) -> ProgramResult:
        """The result of ``source``, which may use ``variables``. These count as figures, as do its literals that equal
        one of ``figures``.

        Raises SandboxError with reason and line if the program is refused, fails or exceeds a limit, ValueError for
        invalid variables.
        """
        started = time.perf_counter()
        request = _request(source, variables or {}, figures)
        with self._slots:
            answer = _ask(self.launcher.command, request, self._settings.seconds)
        with _usable():
            if fault := answer.get("fault"):
                raise SandboxError(fault["reason"], fault["message"], fault["line"])
            result = answer["result"]
            return ProgramResult(
                result["value"],
                result["variables"],
                tuple(result["ungrounded"]),
                (*answer["layers"], *_outer(self.launcher)),
                time.perf_counter() - started,
            )

    async def run_async(
        self, source: str, variables: Mapping[str, Scalar] | None = None, figures: Collection[float] = ()
    ) -> ProgramResult:
        """``run`` in a thread."""
        return await asyncio.to_thread(self.run, source, variables, figures)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The active ``layers``, the attempts that were ``escapes``, and why there is no stronger isolation."""

    layers: tuple[str, ...]
    escapes: tuple[str, ...]
    reason: str


def inspect_sandbox(settings: SandboxSettings) -> Inspection:
    """Start a child that tries to open files and sockets, fork and take memory, and report what succeeds.

    Raises SettingsError, SandboxError.
    """
    chosen = launcher(settings, probe=True)
    answer = _ask(chosen.command, b"", max(settings.seconds, _PROBE_SECONDS))
    with _usable():
        return Inspection((*answer["layers"], *_outer(chosen)), tuple(answer["escapes"]), chosen.reason)


def inspect_reader(settings: SandboxSettings) -> Inspection:
    """As ``inspect_sandbox``, for a child confined like parsers and page renderers."""
    modes = ["demanded"] if confined.filter_demanded(settings) else []
    answer = _ask(confined.command("finray.sandbox.probe", *modes, packages=False), b"", _PROBE_SECONDS)
    with _usable():
        return Inspection(tuple(answer["layers"]), tuple(answer["escapes"]), "")


@contextlib.contextmanager
def _usable() -> Iterator[None]:
    """Raise SandboxError if the answer of a child lacks a part: a program may have taken the child over."""
    try:
        yield
    except (KeyError, TypeError) as error:
        raise SandboxError("crashed", f"the sandbox's process gave no usable answer ({error!r})") from None


def _outer(chosen: Launcher) -> tuple[str, ...]:
    return () if chosen.isolation == "process" else (chosen.isolation,)


def _request(source: str, variables: Mapping[str, Scalar], figures: Collection[float]) -> bytes:
    try:
        read_source(source)
    except Fault as fault:
        raise SandboxError(fault.reason, fault.message, fault.line) from None
    for name, value in variables.items():
        try:
            check_name(name)
        except Fault as fault:
            raise ValueError(f"variable {name[:80]!r}: {fault.message}") from None
        if not isinstance(value, int | float | str | None) or (isinstance(value, float) and not math.isfinite(value)):
            raise ValueError(f"variable {name!r} = {value!r:.80}: a finite number or a text is wanted")
    content = {"source": source, "variables": dict(variables), "figures": list(figures)}
    request = json.dumps(content, ensure_ascii=False).encode()
    if len(request) > limits.REQUEST_BYTES:
        raise SandboxError(
            "limit", f"program and variables of {len(request):,} bytes; at most {limits.REQUEST_BYTES:,}"
        )
    return request


def _ask(command: Sequence[str], request: bytes, seconds: float) -> dict[str, Any]:
    """The answer of one child, which has ``seconds`` once it is ready. Ends the child and all that it started.

    Raises SandboxError, and SettingsError if a filter of system calls is demanded and not available.
    """
    child = confined.start(command)
    assert child.stdin is not None
    ready = content = b""
    late = False
    try:
        # The request fits into the pipe, so this does not block.
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(request)
            child.stdin.close()
        ready = pipes.receive(child.stdout, len(READY), time.monotonic() + START_SECONDS)
        if ready:
            content = pipes.receive(child.stdout, _ANSWER_BYTES, time.monotonic() + seconds)
            child.wait(1.0)  # it closed its last pipe, so it is about to exit
    except (TimeoutError, subprocess.TimeoutExpired):
        late = not content
    finally:
        confined.end(child)
    if ready != READY:
        if child.returncode == NO_FILTER:
            raise confined.no_filter()
        raise SandboxError("crashed", f"the sandbox's process did not start ({_ending(child)}); see `finray doctor`")
    if late or child.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        raise SandboxError("timeout", f"the program took more than {seconds:g} s")
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        raise SandboxError("crashed", f"the sandbox's process died on this program ({_ending(child)})") from None
    if not isinstance(answer, dict):
        raise SandboxError("crashed", "the sandbox's process gave no answer")
    return answer


def _ending(child: subprocess.Popen[bytes]) -> str:
    status = child.returncode
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"

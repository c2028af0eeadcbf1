"""Runs one program of thought in a child process and returns what it computed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from finray.core.errors import SandboxError
from finray.core.settings import SandboxSettings
from finray.sandbox import limits
from finray.sandbox.child import READY
from finray.sandbox.language import check_name, read_source
from finray.sandbox.launch import Launcher, launcher
from finray.sandbox.limits import Fault

START_SECONDS = 20.0
"""For the child to start, which a busy machine may delay; the program's own clock starts after that."""
_ANSWER_BYTES = limits.RESULT_CHARACTERS + 4_096

Scalar = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """``value`` is that of ``answer`` (or ``ans``, ``result``), else of the last statement; ``variables`` are those
    that the program assigned, in order; tuples are lists here and keys of dicts are texts. ``literals`` are the
    quantities written in the program (``finray.sandbox.language.literals``). ``seconds`` include starting the process.
    """

    value: Any
    variables: Mapping[str, Any]
    literals: tuple[int | float, ...]
    layers: tuple[str, ...]
    seconds: float


class Sandbox:
    """Runs programs, at most one for each processor at a time. Safe to use from several threads.

    Raises SettingsError where ``sandbox.isolation`` names what this machine has not.
    """

    def __init__(self, settings: SandboxSettings | None = None) -> None:
        self._settings = settings or SandboxSettings()
        self.launcher = launcher(self._settings)
        self._slots = threading.BoundedSemaphore(max(1, os.cpu_count() or 1))

    def run(self, source: str, variables: Mapping[str, Scalar] | None = None) -> ProgramResult:
        """The result of ``source``, which may use ``variables``.

        Raises SandboxError with the reason and the line for a program that is refused, fails, or takes too much;
        ValueError for variables that no program could have.
        """
        started = time.perf_counter()
        request = _request(source, variables or {})
        with self._slots:
            answer = _ask(self.launcher, request, self._settings.seconds)
        if fault := answer.get("fault"):
            raise SandboxError(fault["reason"], fault["message"], fault["line"])
        result = answer["result"]
        return ProgramResult(
            result["value"],
            result["variables"],
            tuple(result["literals"]),
            (*answer["layers"], *_outer(self.launcher)),
            time.perf_counter() - started,
        )

    async def run_async(self, source: str, variables: Mapping[str, Scalar] | None = None) -> ProgramResult:
        """``run`` in a thread."""
        return await asyncio.to_thread(self.run, source, variables)


@dataclass(frozen=True, slots=True)
class Inspection:
    """``layers`` that are active, what ``escapes`` them, and why there is no stronger isolation."""

    layers: tuple[str, ...]
    escapes: tuple[str, ...]
    reason: str


def inspect_sandbox(settings: SandboxSettings) -> Inspection:
    """Start a child that tries to open files and sockets, to fork and to take memory, and see what succeeds.

    Raises SettingsError, SandboxError.
    """
    chosen = launcher(settings, probe=True)
    answer = _ask(chosen, b"", max(settings.seconds, 10.0))
    return Inspection((*answer["layers"], *_outer(chosen)), tuple(answer["escapes"]), chosen.reason)


def _outer(chosen: Launcher) -> tuple[str, ...]:
    return () if chosen.isolation == "process" else (chosen.isolation,)


def _request(source: str, variables: Mapping[str, Scalar]) -> bytes:
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
    request = json.dumps({"source": source, "variables": dict(variables)}, ensure_ascii=False).encode()
    if len(request) > limits.REQUEST_BYTES:
        raise SandboxError(
            "limit", f"program and variables of {len(request):,} bytes; at most {limits.REQUEST_BYTES:,}"
        )
    return request


def _ask(chosen: Launcher, request: bytes, seconds: float) -> dict[str, Any]:
    """One child, one answer; whatever happens, the child and all it may have started are gone afterwards."""
    child = subprocess.Popen(
        chosen.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
        start_new_session=True,
    )
    assert child.stdin is not None and child.stdout is not None
    ready = content = b""
    late = False
    try:
        # It fits into the pipe, so this does not wait for the child.
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(request)
            child.stdin.close()
        ready = _read(child.stdout.fileno(), len(READY), time.monotonic() + START_SECONDS)
        if ready:
            content = _read(child.stdout.fileno(), _ANSWER_BYTES, time.monotonic() + seconds)
            child.wait(1.0)  # its last pipe is closed: it is about to end by itself
    except (TimeoutError, subprocess.TimeoutExpired):
        late = not content
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        for pipe in (child.stdin, child.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    if ready != READY:
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


def _read(descriptor: int, most: int, deadline: float) -> bytes:
    """At most ``most`` bytes, up to the end. Raises TimeoutError at ``deadline`` (monotonic)."""
    parts: list[bytes] = []
    left = most
    poll = select.poll()  # unlike select(), for descriptors of any number
    poll.register(descriptor, select.POLLIN)
    while left:
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError
        part = os.read(descriptor, left)
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _ending(child: subprocess.Popen[bytes]) -> str:
    status = child.returncode
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"

"""The child process: locks itself down, reads one request, answers, and ends.

Request: ``{"source": text, "variables": {name: value}}`` as JSON on standard input, up to its end. Answer: one JSON
object on standard output after a first byte ``R``, which says that the child is locked down and the clock may start.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import unicodedata  # noqa: F401  # the parser imports it for names that are not ASCII, when nothing can be opened any more
from collections.abc import Callable
from typing import Any, NoReturn

from finray.sandbox import limits
from finray.sandbox.interpreter import run_source
from finray.sandbox.language import literals
from finray.sandbox.limits import Fault
from finray.sandbox.lockdown import limit_resources, system_call_filter

READY = b"R"


def main(seconds: float, memory_bytes: int, *, probe: bool = False, wasi: bool = False) -> NoReturn:
    """Ends the process."""
    layers = ["language"]
    attempts = _attempts() if probe else {}
    if not wasi:
        apply_filter = system_call_filter()
        limit_resources(seconds, memory_bytes)
        layers.append("process")
        if apply_filter is not None and apply_filter():
            layers.append("seccomp")
    _write(READY)
    request = _read()
    answer = _escapes(attempts) if probe else _answer(request)
    _write(json.dumps(answer | {"layers": layers}, allow_nan=False).encode())
    os._exit(0)


def _answer(request: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(request)
        tree, interpreter, value = run_source(asked["source"], asked["variables"])
        result = {
            "value": value,
            "variables": {name: interpreter.variables[name] for name in interpreter.assigned},
            "literals": literals(tree),
        }
        # The variables were built step by step, but together they may still be long, or shared many times.
        for variable in result["variables"].values():
            interpreter.budget.weigh(variable)
        if len(json.dumps(result, allow_nan=False)) > limits.RESULT_CHARACTERS:
            raise Fault("limit", f"a result of more than {limits.RESULT_CHARACTERS:,} characters")
        return {"result": result}
    except Fault as fault:
        return {"fault": {"reason": fault.reason, "message": fault.message, "line": fault.line}}
    except (MemoryError, RecursionError) as error:
        return {"fault": {"reason": "memory", "message": f"out of memory ({type(error).__name__})", "line": None}}


def _attempts() -> dict[str, Callable[[], object]]:
    """What a program that had broken out of the language would try; imported now, as later nothing can be."""
    import socket

    return {
        "open a file": lambda: os.open("/etc/passwd" if os.path.exists("/etc/passwd") else "/", os.O_RDONLY),  # noqa: PTH110
        "open a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "start a process": _fork,
        "take 1 GiB of memory": lambda: len(bytearray(1 << 30)),
        "list a folder": lambda: os.listdir("/"),  # noqa: PTH208
    }


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _escapes(attempts: dict[str, Callable[[], object]]) -> dict[str, Any]:
    succeeded = []
    for name, attempt in attempts.items():
        with contextlib.suppress(OSError, MemoryError, AttributeError):  # WASI has no fork
            attempt()
            succeeded.append(name)
    return {"escapes": succeeded}


def _read() -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > limits.REQUEST_BYTES:
            os._exit(3)
    return b"".join(parts)


def _write(content: bytes) -> None:
    while content:
        content = content[os.write(1, content) :]


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), probe="probe" in sys.argv[3:], wasi="wasi" in sys.argv[3:])

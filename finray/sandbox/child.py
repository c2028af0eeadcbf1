"""The child process: it locks itself down, reads one request, answers, and exits.

Request: ``{"source": text, "variables": {name: value}, "figures": [number]}`` as JSON, the whole standard input.
Answer: on standard output, the byte ``lockdown.READY``, then one JSON object.
"""

from __future__ import annotations

import json
import os
import unicodedata  # noqa: F401  # the parser imports it for names that are not ASCII, after lockdown
from collections.abc import Sequence
from typing import Any, NoReturn

from finray.sandbox import limits
from finray.sandbox.interpreter import run_source
from finray.sandbox.limits import Fault
from finray.sandbox.lockdown import READY, lock_down
from finray.sandbox.probe import attempts, escapes


def main(arguments: Sequence[str]) -> NoReturn:
    """Ends the process. ``arguments`` are the limits in seconds and bytes of memory, then modes: "probe" tries to break
    out instead of running a program, "demanded" exits if there is no system-call filter, "wasi" leaves confinement to
    the runtime."""
    seconds, memory_bytes, *modes = arguments
    layers = ["language"]
    tried = attempts() if "probe" in modes else {}
    if "wasi" not in modes:
        layers += lock_down(
            "compute",
            seconds=float(seconds),
            memory_bytes=int(memory_bytes),
            open_files=0,
            demanded="demanded" in modes,
        )
    _write(READY)
    request = _read()
    answer = {"escapes": escapes(tried)} if tried else _answer(request)
    _write(json.dumps(answer | {"layers": layers}, allow_nan=False).encode())
    os._exit(0)


def _answer(request: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(request)
        interpreter, value = run_source(asked["source"], asked["variables"], asked["figures"])
        result = {
            "value": value,
            "variables": {name: interpreter.variables[name] for name in interpreter.assigned},
            "ungrounded": interpreter.ungrounded(value),
        }
        # Each variable was within its budget, but together they may be too long, or share parts many times.
        for variable in result["variables"].values():
            interpreter.budget.weigh(variable)
        if len(json.dumps(result, allow_nan=False)) > limits.RESULT_CHARACTERS:
            raise Fault("limit", f"a result of more than {limits.RESULT_CHARACTERS:,} characters")
        return {"result": result}
    except Fault as fault:
        return {"fault": {"reason": fault.reason, "message": fault.message, "line": fault.line}}
    except (MemoryError, RecursionError) as error:
        return {"fault": {"reason": "memory", "message": f"out of memory ({type(error).__name__})", "line": None}}


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

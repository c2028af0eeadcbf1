"""Output of commands."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, is_dataclass
from typing import Any, NoReturn

from rich.console import Console, RenderableType

out = Console()
err = Console(stderr=True)


def emit(record: Any, *texts: RenderableType, as_json: bool) -> None:
    """Print ``record`` (a dataclass or JSON values) as one line of JSON, or ``texts`` one below another."""
    if as_json:
        values = asdict(record) if is_dataclass(record) and not isinstance(record, type) else record
        sys.stdout.write(json.dumps(values, default=str) + "\n")
        return
    for text in texts:
        out.print(text, highlight=False, markup=False, emoji=False, soft_wrap=isinstance(text, str))


def remark(text: str) -> None:
    """Print ``text`` on standard error, in the lines of a terminal."""
    err.print(text, markup=False, highlight=False)


def exit_code(failed: int, done: int, *, exit_zero: bool = False) -> int:
    """0 without failures, else 1. With ``exit_zero`` it is 0 despite failures, so that a scheduler does not start the
    whole job again for one bad filing. If several failed and nothing was ``done``, the fault is the job's, and it is 1
    all the same."""
    if not failed or (exit_zero and (done or failed == 1)):
        return 0
    return 1


def fail(message: str) -> NoReturn:
    """Print the reason on one line and exit with code 2."""
    err.print(f"error: {message}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)

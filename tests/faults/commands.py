"""Runs finray's commands on a small world, as a user would."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from dataclasses import dataclass

import pytest

from finray.cli import main
from tools.faults.world import Operation, Place, World, command


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The error line of the command."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert self.code == 2 and len(lines) == 1 and "Traceback" not in self.err, self
        return lines[0]


def run(operation: Operation, world: World, place: Place) -> Ended:
    """A sync in a process of its own, as edgartools asks where EDGAR is when it is imported; others in this one."""
    place.scratch.mkdir(exist_ok=True)
    arguments = command(operation, world, place)
    if operation == "sync":
        ended = subprocess.run(
            [sys.executable, "-m", "finray.cli", *arguments], capture_output=True, text=True, timeout=300
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ended_with,
    ):
        patch.setattr(sys, "argv", ["finray", *arguments])
        main()
    code = ended_with.value.code
    return Ended(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())

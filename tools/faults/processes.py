"""Starts finray as a user does, finds the processes of a run, and kills one of them at a chosen moment.

Every process of a run has a mark in its environment. The mark identifies orphans too and separates runs. Signals go
only to processes of these runs.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

import psutil

from finray.batch.prediction_store import read_predictions
from finray.core.errors import FinrayError, IndexMissingError, SourceError
from finray.index import layout, schema

REPOSITORY: Final = Path(__file__).parents[2]
BIN: Final = Path(sys.executable).parent
"""The folder of ``python``, ``finray`` and ``ray``."""
_MARK: Final = "FAULT_RUN"
_PAUSE_SECONDS: Final = 0.02

Kind = Literal["driver", "worker", "parser", "engine", "actor", "raylet", "gcs"]
"""The command itself; a Ray worker that runs finray's code; the child that parses a filing; the child that answers
questions; an actor of Ray itself; Ray's node manager; Ray's head."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_NAMES: Final[Mapping[Kind, str]] = {
    "parser": "finray.index.job.parser_process",
    "engine": "finray.engines.child",
    "raylet": "raylet",
    "gcs": "gcs_server",
}
_WORKERS: Final = ("_read_and_parse", "_Embedder", "AnswerWorker")
"""Names in the process titles of Ray workers that run finray's code."""


class StillRunningError(FinrayError):
    """A run did not end in time."""


@dataclass(frozen=True, slots=True)
class Ended:
    """``exit_code`` is negative for a signal, as in subprocess; ``seconds`` count from the start of the run."""

    exit_code: int
    out: str
    err: str
    seconds: float


class Running:
    """A running command. As a context manager, it leaves no process behind."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.mark = uuid.uuid4().hex
        self._started = time.monotonic()
        self._folder = tempfile.TemporaryDirectory()
        # Files, not pipes: Ray's processes inherit them, and a pipe would stay open after the command has ended.
        self._out, self._err = (Path(self._folder.name) / name for name in ("out", "err"))
        with self._out.open("ab") as out, self._err.open("ab") as err:
            self._process = subprocess.Popen(
                command,
                env={**environment, _MARK: self.mark},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                cwd=REPOSITORY,
            )

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def processes(self) -> list[psutil.Process]:
        """All living processes of the run, including orphans."""
        return marked(self.mark)

    def find(self, kind: Kind) -> list[psutil.Process]:
        """The processes of one kind. Only a run that started Ray itself has all kinds."""
        return (
            find(self.processes(), kind) if kind != "driver" else [psutil.Process(self.pid)] if not self.ended else []
        )

    def kill(self, kind: Kind, choose: random.Random | None = None) -> bool:
        """``kill -9`` one process of ``kind``, chosen by ``choose``; False if there is none."""
        return kill_one(self.find(kind), choose)

    def said(self) -> str:
        """The output of the command so far."""
        return f"{_text(self._out)}\n{_text(self._err)}"

    def wait(self, timeout_s: float) -> Ended:
        """Wait for the end of the command. Raises StillRunningError with its output so far."""
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise StillRunningError(
                f"{self._process.args!r} still runs after {timeout_s:.0f} s; its output:\n{self.said()}"
            ) from error
        return Ended(code, _text(self._out), _text(self._err), time.monotonic() - self._started)

    def wait_until(self, moment: Callable[[], bool], timeout_s: float = 300.0) -> bool:
        """Poll ``moment`` every 20 ms until it is true; False if the command ended first.

        Raises StillRunningError after ``timeout_s``.
        """
        deadline = time.monotonic() + timeout_s
        while not moment():
            if self.ended:
                return False
            if time.monotonic() > deadline:
                raise StillRunningError(f"the moment did not come in {timeout_s:.0f} s: {self._process.args!r}")
            time.sleep(_PAUSE_SECONDS)
        return True

    def stop(self) -> None:
        """``kill -9`` every process of the run."""
        end_all(self.mark)
        self._process.wait()
        self._folder.cleanup()


def start(*command: str, environment: Mapping[str, str] | None = None) -> Running:
    """Start ``finray`` with these arguments, or a job if the first ends in ``.py``.

    Adds ``environment`` to that of this process without its FINRAY_ and RAY_ variables.
    """
    job = command[0].endswith(".py")
    program = [sys.executable, str(REPOSITORY / command[0])] if job else [str(BIN / "finray"), command[0]]
    return Running([*program, *command[1:]], clean_environment() | dict(environment or {}))


def clean_environment() -> dict[str, str]:
    """The environment of this process without settings and the address of a cluster."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("FINRAY_", "RAY_"))} | {
        "RAY_AUTH_MODE": "disabled",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def marked(mark: str) -> list[psutil.Process]:
    """The living processes with ``mark`` in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def descendants(named: str, root: int | None = None) -> list[psutil.Process]:
    """The living processes below ``root`` (a process id; None: this process) with ``named`` in their command line."""
    found = []
    for process in psutil.Process(root).children(recursive=True):
        try:
            if named in " ".join(process.cmdline()):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def find(processes: Sequence[psutil.Process], kind: Kind) -> list[psutil.Process]:
    """The ``processes`` of ``kind`` (any but "driver")."""
    return [process for process in processes if _is(process, kind)]


def kill_one(processes: Sequence[psutil.Process], choose: random.Random | None = None) -> bool:
    """``kill -9`` one of ``processes``; False if there is none or it has just ended."""
    if not processes:
        return False
    chosen = choose.choice(processes) if choose else processes[0]
    try:
        chosen.send_signal(signal.SIGKILL)
    except psutil.NoSuchProcess:
        return False
    return True


def end_all(mark: str) -> None:
    """``kill -9`` all processes with ``mark``, including new ones."""
    for _ in range(50):
        left = marked(mark)
        if not left:
            return
        for process in left:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(left, timeout=0.5)
    raise StillRunningError(f"processes outlive kill -9: {marked(mark)}")


def filings_committed(index: str) -> int:
    """The number of filings in ``index`` now."""
    try:
        layout.read_record(index)
        return int(layout.open_table(index, schema.FILINGS).count_rows())
    except IndexMissingError:
        return 0


def predictions_stored(out: str) -> int:
    """The number of predictions at ``out`` now."""
    try:
        return len(read_predictions(out).predictions)
    except SourceError:
        return 0


def filings_fetched(raw: str) -> int:
    """The number of complete filings in a local raw store now."""
    return sum(1 for _ in (Path(raw) / "filings").rglob("*.json"))


def after(seconds: float) -> Callable[[], bool]:
    """A condition that becomes true in ``seconds``."""
    due = time.monotonic() + seconds
    return lambda: time.monotonic() >= due


def _is(process: psutil.Process, kind: Kind) -> bool:
    try:
        line = process.cmdline()
    except psutil.NoSuchProcess:
        return False
    if not line:
        return False
    if kind in ("worker", "actor"):
        title = line[0]
        ours = any(name in title for name in _WORKERS)
        return title.startswith("ray::") and "IDLE" not in title and ours == (kind == "worker")
    if kind in ("parser", "engine"):
        return _NAMES[kind] in line
    return Path(line[0]).name == _NAMES[kind]


def _text(file: Path) -> str:
    return file.read_text(errors="replace") if file.exists() else ""

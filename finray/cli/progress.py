"""Progress of long work: a bar on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_LINE_EVERY_SECONDS = 10.0


class Report(Protocol):
    """Reports progress, with an optional ``note``."""

    def __call__(self, done: int, total: int, note: str = "") -> None: ...


@contextmanager
def progress_bar(console: Console, what: str, *, lines: bool = False) -> Iterator[Report]:
    """Show progress until the block ends; nothing if the total is 0. ``lines`` shows no bar even on a terminal.

    Output of libraries inside the block goes to ``console`` too: Ray reports lost nodes on standard output, which is
    for results.
    """
    if console.is_terminal and not lines:
        with _bar(console, what) as report:
            yield report
    else:
        with redirect_stdout(console.file):
            yield _lines(console, what)


@contextmanager
def _bar(console: Console, what: str) -> Iterator[Report]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None, note="")

        def report(done: int, total: int, note: str = "") -> None:
            progress.update(task, completed=done, total=total, note=note)

        yield report


def _lines(console: Console, what: str) -> Report:
    started = last = time.monotonic()
    ended = False

    def report(done: int, total: int, note: str = "") -> None:
        nonlocal last, ended
        now = time.monotonic()
        ends = done == total
        if total and (now - last >= _LINE_EVERY_SECONDS or (ends and not ended)):
            last = now
            parts = (f"{what}: {done:,} of {total:,}", note, f"{now - started:.0f} s")
            console.print(", ".join(part for part in parts if part), highlight=False, markup=False, soft_wrap=True)
        ended = ends

    return report

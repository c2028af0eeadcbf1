"""Progress of long work on stderr: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from finray.index.summary import IndexProgress, IndexSummary, ReportProgress

_LINE_SECONDS = 10.0


@contextmanager
def index_progress() -> Iterator[ReportProgress]:
    """A callback for the index jobs that shows how far they are."""
    if sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield _plain_lines()


def describe(summary: IndexSummary) -> str:
    """The summary for a person, a few lines."""
    skipped = "".join(f", {count:,} {cause}" for cause, count in sorted(summary.skipped.items()))
    lines = [
        f"{summary.seen:,} files: {summary.indexed:,} indexed{skipped}, {summary.failed:,} failed",
        f"{summary.pages:,} pages and {summary.chunks:,} chunks in {summary.seconds:.1f} s; "
        f"peak memory {summary.peak_rss_bytes / 2**30:.1f} GiB",
    ]
    if summary.ignored:
        kinds = ", ".join(f"{count:,} {kind or 'without extension'}" for kind, count in sorted(summary.ignored.items()))
        lines.append(f"not looked at in folders: {kinds}; name a file to index it whatever its extension")
    lines += [f"failed: {f.source_uri}: {f.stage}: {f.reason}: {f.detail}" for f in summary.failures]
    return "\n".join(lines)


@contextmanager
def _bar() -> Iterator[ReportProgress]:
    columns = (
        TextColumn("indexing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[chunks]:,} chunks, {task.fields[failed]} failed"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("index", total=None, chunks=0, failed=0)

        def report(progress: IndexProgress) -> None:
            bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                chunks=progress.chunks,
                failed=progress.failed,
            )

        yield report


def _plain_lines() -> ReportProgress:
    last = float("-inf")

    def report(progress: IndexProgress) -> None:
        nonlocal last
        if not progress.total:
            return
        finished = progress.done == progress.total
        if not finished and time.monotonic() - last < _LINE_SECONDS:
            return
        last = time.monotonic()
        print(  # noqa: T201 - the job's log
            f"indexed {progress.done}/{progress.total} files, {progress.chunks:,} chunks, {progress.failed} failed, "
            f"{progress.seconds:.0f} s",
            file=sys.stderr,
            flush=True,
        )

    return report

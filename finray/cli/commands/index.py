"""``finray index`` and jobs/index.py: the index job on the Ray cluster in reach, or in this process."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Protocol

from rich.console import Console

from finray.cli.commands.progress import progress_bar
from finray.core.settings import Settings
from finray.core.types import Mark
from finray.index.summary import IndexProgress, IndexSummary, MarkedFiling, ReportProgress


def run_index(
    sources: Sequence[str], index: str, settings: Settings, *, retry_failed: bool, as_json: bool, out: Console
) -> int:
    """Index, summarise. 1 where a file failed; the summary lists them."""
    summary = index_with_progress(sources, index, settings, Console(stderr=True), retry_failed=retry_failed)
    if as_json:
        sys.stdout.write(json.dumps(asdict(summary)) + "\n")
    else:
        out.print(describe(summary), highlight=False, markup=False, soft_wrap=True)
    return 1 if summary.failures else 0


def index_with_progress(
    sources: Sequence[str], index: str, settings: Settings, err: Console, *, retry_failed: bool = False
) -> IndexSummary:
    """The index job that the settings choose, with a progress bar. Raises what the job raises."""
    with progress_bar(err, "indexing") as report:

        def show(progress: IndexProgress) -> None:
            report(progress.done, progress.total, f"{progress.chunks:,} chunks, {progress.failed} failed")

        return _job(settings)(sources, index, settings, progress=show, retry_failed=retry_failed)


class _Job(Protocol):
    def __call__(
        self,
        sources: Sequence[str],
        index_uri: str,
        settings: Settings,
        *,
        progress: ReportProgress | None,
        retry_failed: bool,
    ) -> IndexSummary: ...


def _job(settings: Settings) -> _Job:
    if settings.index.in_process:
        from finray.index.in_process import index_in_process

        return index_in_process
    from finray.cluster.index_job import index_filings  # brings Ray along

    return index_filings


_MARKS: dict[Mark, str] = {
    "unidentified": "not identified (unknown: {unknown}), found by its text",
    "ocr": "read by OCR",
    "unread": "some pages not read, which only OCR can read; install Tesseract and index it into a new index",
    "repaired": "repaired, with all its pages",
}


def _marked(marked: MarkedFiling) -> str:
    notes = (_MARKS[mark].format(unknown=", ".join(marked.unknown)) for mark in marked.marks)
    return f"indexed: {marked.source_uri}: {'; '.join(notes)}"


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
    if summary.marked:
        counts = Counter(mark for marked in summary.marked for mark in marked.marks)
        noted = ", ".join(f"{counts[mark]:,} {mark}" for mark in _MARKS if counts[mark])
        lines.append(f"indexed, and to be looked at: {noted}")
    lines += [_marked(marked) for marked in summary.marked]
    lines += [f"failed: {f.source_uri}: {f.stage}: {f.reason}: {f.detail}" for f in summary.failures]
    if summary.failures:
        lines.append("what failed is not tried again until the file changes; --retry-failed tries it")
    return "\n".join(lines)

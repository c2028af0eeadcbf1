"""``finray index`` and jobs/index.py: the index job on a Ray cluster, or in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer

from finray.cli.options import (
    EmbedWorkersOption,
    ExitZeroOption,
    IndexOption,
    JsonOption,
    PresetOption,
    SetOption,
    ShowRayOption,
    overrides_of,
    pool_of,
)
from finray.cli.output import emit, err, exit_code
from finray.cli.progress import progress_bar
from finray.core.filing import Mark
from finray.core.settings import Settings, load_settings
from finray.index.job.summary import IndexProgress, IndexSummary, MarkedFiling


def index(
    sources: Annotated[list[str], typer.Argument(help="Folders, globs, files or s3:// locations of filings.")],
    index: IndexOption,
    preset: PresetOption = "local",
    set_: SetOption = None,
    retry_failed: Annotated[
        bool, typer.Option(help="Try files again that failed before, even if they have not changed.")
    ] = False,
    exit_zero: ExitZeroOption = False,
    embed_workers: EmbedWorkersOption = None,
    show_ray: ShowRayOption = False,
    json_: JsonOption = False,
) -> int:
    """Read, parse, chunk, embed and store filings. A second run indexes only new and changed files."""
    settings = load_settings(preset, overrides_of(set_) | pool_of(embed_workers, show_ray))
    summary = index_with_progress(sources, index, settings, retry_failed=retry_failed)
    emit(summary, described(summary), as_json=json_)
    return exit_code(summary.failed, summary.indexed, exit_zero=exit_zero)


def index_with_progress(
    sources: Sequence[str], index: str, settings: Settings, *, retry_failed: bool = False
) -> IndexSummary:
    """``finray.index_filings`` with a progress bar on standard error."""
    from finray.library import index_filings

    with progress_bar(err, "indexing", lines=settings.index_job.show_ray) as report:

        def show(progress: IndexProgress) -> None:
            report(progress.done, progress.total, f"{progress.chunks:,} chunks, {progress.failed} failed")

        return index_filings(sources, index, settings, progress=show, retry_failed=retry_failed)


_MARKS: dict[Mark, str] = {
    "unidentified": "not identified (unknown: {unknown}), found by its text",
    "ocr": "read by OCR",
    "unread": "some pages need OCR and were not read; install Tesseract and index it into a new index",
    "repaired": "repaired, with all its pages",
}


def _marked(marked: MarkedFiling) -> str:
    notes = (_MARKS[mark].format(unknown=", ".join(marked.unknown)) for mark in marked.marks)
    return f"indexed: {marked.source_uri}: {'; '.join(notes)}"


def described(summary: IndexSummary) -> str:
    """The summary as a few lines of text."""
    skipped = "".join(f", {count:,} {cause}" for cause, count in sorted(summary.skipped.items()))
    lines = [
        f"{summary.seen:,} files: {summary.indexed:,} indexed{skipped}, {summary.failed:,} failed",
        f"{summary.pages:,} pages and {summary.chunks:,} chunks in {summary.seconds:.1f} s; "
        f"peak memory {summary.peak_rss_bytes / 2**30:.1f} GiB",
    ]
    if summary.ignored:
        kinds = ", ".join(f"{count:,} {kind or 'without extension'}" for kind, count in sorted(summary.ignored.items()))
        lines.append(f"ignored in folders: {kinds}; name a file to index it regardless of its extension")
    if summary.left_out:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(summary.left_out.items()))
        lines.append(f"left out of submissions: {sum(summary.left_out.values()):,} documents ({kinds})")
    if summary.marked:
        counts = Counter(mark for marked in summary.marked for mark in marked.marks)
        noted = ", ".join(f"{counts[mark]:,} {mark}" for mark in _MARKS if counts[mark])
        lines.append(f"indexed, but please review: {noted}")
    lines += [_marked(marked) for marked in summary.marked]
    lines += [f"failed: {f.source_uri}: {f.stage}: {f.reason}: {f.detail}" for f in summary.failures]
    if summary.failures:
        lines.append("a failed file is tried again only after it changes, or with --retry-failed")
    return "\n".join(lines)

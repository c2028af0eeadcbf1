"""``finray sync`` and jobs/sync_edgar.py: update the raw store from EDGAR, then the index from the store."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from finray.cli.index import described as index_described
from finray.cli.index import index_with_progress
from finray.cli.options import ExitZeroOption, JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err, exit_code
from finray.cli.progress import progress_bar

if TYPE_CHECKING:
    from finray.edgar.indexing import IndexOutcome
    from finray.edgar.run import SyncSummary
    from finray.edgar.unpack import Unpacker
    from finray.index.job.summary import IndexSummary


def sync(
    raw: Annotated[str, typer.Option("--raw", help="Raw filings and their ledger: a folder or s3:// URI.")],
    since: Annotated[dt.datetime, typer.Option(formats=["%Y-%m-%d"], help="First filing date, such as 2024-01-31.")],
    index: Annotated[str | None, typer.Option("--index", help="Index to update; optional.")] = None,
    until: Annotated[
        dt.datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Last filing date; default: today.")
    ] = None,
    forms: Annotated[str, typer.Option(help="Comma-separated; each includes its amendments.")] = "10-K,10-Q,8-K",
    tickers: Annotated[
        str | None, typer.Option(help="File of companies: tickers, one per line, or CSV (docs/sync.md).")
    ] = None,
    ciks: Annotated[str | None, typer.Option(help="File of companies: CIKs, one per line, or CSV.")] = None,
    company: Annotated[
        list[str] | None, typer.Option(help="A company, by ticker or CIK. May be repeated. By default, all companies.")
    ] = None,
    contact: Annotated[
        str | None, typer.Option(help="Who asks EDGAR: a name and an e-mail; the setting edgar.contact.")
    ] = None,
    from_feed: Annotated[
        list[str] | None,
        typer.Option(
            help="Feed archives or full-submission files (file, folder, glob, s3://) instead of EDGAR's indexes; "
            '"edgar" for EDGAR\'s own daily feed archives. May be repeated.'
        ),
    ] = None,
    unpack_workers: Annotated[
        int, typer.Option(min=0, help="Dumps that Ray unpacks at a time; 0: this process, one after the other.")
    ] = 0,
    preset: PresetOption = "local",
    set_: SetOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List new filings; fetch and write nothing.")] = False,
    retry_failed: Annotated[bool, typer.Option(help="Try filings again that failed or were skipped.")] = False,
    recheck: Annotated[bool, typer.Option("--recheck", help="Read every index of the range again.")] = False,
    now: Annotated[
        bool, typer.Option("--now", help="Query each chosen company too, for filings that no index lists yet.")
    ] = False,
    exit_zero: ExitZeroOption = False,
    json_: JsonOption = False,
) -> int:
    """Fetch new filings from EDGAR within its rate limit, and index them. A second run fetches only missing ones."""
    from finray.edgar import sync as edgar
    from finray.edgar.limiter import Limiter, LocalLimiter
    from finray.index.writing.writer import RunUpkeep, here

    settings = settings_of(preset, [*(set_ or ()), f"edgar.contact={contact}"] if contact is not None else set_)
    request = edgar.SyncRequest(
        raw=raw,
        since=since.date(),
        index=index,
        until=until.date() if until else None,
        forms=forms,
        tickers=tickers,
        ciks=ciks,
        companies=tuple(company or ()),
        from_feed=tuple(from_feed or ()),
        dry_run=dry_run,
        retry_failed=retry_failed,
        recheck=recheck,
        companies_now=now,
    )

    def index_new(sources: Sequence[str]) -> IndexSummary:
        return index_with_progress(sources, str(index), settings)

    with ExitStack() as stack:
        limiter: Callable[[float], Limiter] = LocalLimiter
        upkeep: RunUpkeep = here
        if os.environ.get("RAY_ADDRESS"):  # share the cluster's limiter; without a cluster, Ray starts only to index
            from finray.cluster.edgar_limiter import ClusterLimiter
            from finray.cluster.index_job import on_cluster
            from finray.cluster.runtime import ray_cluster

            stack.enter_context(ray_cluster())
            limiter, upkeep = ClusterLimiter, on_cluster
        unpacker: Unpacker | None = None
        if unpack_workers:
            from finray.cluster.unpack_job import UnpackOnRay

            unpacker = UnpackOnRay(unpack_workers)
        progress = stack.enter_context(progress_bar(err, "EDGAR"))
        summary, indexed = edgar.sync(
            request, settings, index_new, limiter=limiter, upkeep=upkeep, unpacker=unpacker, progress=progress
        )
    emit(asdict(summary) | {"index": asdict(indexed)}, described(summary, indexed), as_json=json_)
    stored = indexed.summary
    if summary.problems or not exit_zero:  # a problem concerns an index or EDGAR as a whole, not one filing
        return 1 if summary.has_failures or (stored is not None and stored.failed > 0) else 0
    fetched = exit_code(len(summary.failed), summary.fetched + summary.adopted, exit_zero=True)
    return fetched or (exit_code(stored.failed, stored.indexed, exit_zero=True) if stored is not None else 0)


def described(summary: SyncSummary, indexed: IndexOutcome) -> str:
    """The summary as a few lines of text."""
    verb = "would be fetched" if summary.dry_run else "still to fetch"
    skipped = "".join(f", {count:,} skipped ({reason})" for reason, count in sorted(summary.skipped.items()))
    lines = [
        f"{summary.indexes_read:,} indexes read, {summary.indexes_unchanged:,} unchanged"
        + (f", {summary.archives_read:,} archives and files of dumps read" if summary.archives_read else "")
        + f"; {summary.listed:,} wanted filings in them",
        f"{summary.fetched:,} filings fetched ({summary.bytes_fetched / 2**20:.1f} MiB), "
        f"{summary.adopted:,} found stored, {summary.corrected:,} corrected{skipped}, "
        f"{len(summary.failed):,} failed; {summary.waiting:,} {verb}",
        f"{summary.requests:,} requests to EDGAR, {summary.pauses:,} pauses, {summary.seconds:.1f} s",
        f"complete until {summary.complete_until or 'no day yet'}{_days(summary.incomplete_days)}",
    ]
    lines += [f"deleted by EDGAR, set aside: {d.accession} {d.form} {d.company}: {d.reason}" for d in summary.deleted]
    lines += [f"unknown ticker: {ticker}" for ticker in summary.unknown_tickers]
    lines += [f"failed: {problem.what}: {problem.reason}" for problem in (*summary.problems, *summary.failed)]
    if indexed.withdrawn:
        lines.append(f"index: {indexed.withdrawn:,} deleted filings withdrawn")
    if indexed.summary is not None:
        lines.append(f"index: {index_described(indexed.summary)}")
    return "\n".join(lines)


def _days(days: Sequence[dt.date]) -> str:
    if not days:
        return ""
    shown = ", ".join(map(str, days[:5]))
    return f"; not complete yet: {shown}{f' and {len(days) - 5:,} more' if len(days) > 5 else ''}"

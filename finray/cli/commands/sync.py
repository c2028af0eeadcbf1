"""``finray sync`` and jobs/sync_edgar.py: bring the raw store up to date with EDGAR, then the index with the store."""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from rich.console import Console

from finray.cli.commands.index import describe as describe_index
from finray.cli.commands.index import index_with_progress
from finray.cli.commands.progress import Report, progress_bar
from finray.core.errors import UsageError
from finray.core.settings import Settings
from finray.edgar.companies import wanted_ciks
from finray.edgar.contact import check_pace, checked_contact
from finray.edgar.http import EdgarHttp
from finray.edgar.indexing import index_backlog, sources_of
from finray.edgar.ledger import Ledger
from finray.edgar.limiter import Limiter, LocalLimiter
from finray.edgar.run import Run
from finray.edgar.selection import Selection, parse_forms
from finray.edgar.store import RawStore
from finray.edgar.summary import SyncSummary
from finray.edgar.sync import sync_raw
from finray.index.summary import IndexSummary

EDGAR_FEED = "edgar"


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """The command's arguments. ``from_feed`` are dumps: locations, or "edgar" for EDGAR's own feed archives."""

    raw: str
    index: str | None
    since: dt.date
    until: dt.date | None
    forms: str
    tickers: str | None
    ciks: str | None
    from_feed: Sequence[str]
    dry_run: bool
    retry_failed: bool
    recheck: bool
    companies_now: bool = False


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """What became of the index: ``withdrawn`` filings that EDGAR has deleted, and the index job's summary."""

    withdrawn: int = 0
    summary: IndexSummary | None = None


def run_sync(request: SyncRequest, settings: Settings, *, as_json: bool, out: Console, err: Console) -> int:
    """0 where everything of the range is there or not published yet, 1 where something failed; it is listed."""
    now = dt.datetime.now(dt.UTC)
    until = request.until or now.date()
    if request.since > until:
        today = "" if request.until else ", today by this machine's clock"
        raise UsageError(f"--since {request.since} is after --until {until}{today}")
    dumps = [uri for uri in request.from_feed if uri != EDGAR_FEED]
    edgar_feed = len(dumps) < len(request.from_feed)
    online = edgar_feed or not dumps
    if online or request.tickers:
        checked_contact(settings.edgar.contact)
        check_pace(settings.edgar.requests_per_second, os.environ.get("EDGAR_BASE_URL"))
    store = RawStore(request.raw)
    with _cluster(), _http(settings, online=online or bool(request.tickers)) as http, _progress(err) as progress:
        ciks, unknown = wanted_ciks(request.tickers, request.ciks, store, http, dry_run=request.dry_run)
        selection = Selection(request.since, until, parse_forms(request.forms), ciks)
        ledger = Ledger(store.ledger_uri, read_only=request.dry_run)
        run = Run(
            store,
            ledger,
            selection,
            settings.edgar,
            now,
            progress,
            request.dry_run,
            request.retry_failed,
            request.recheck,
        )
        summary = sync_raw(
            run,
            http if online else None,
            dumps=dumps,
            edgar_feed=edgar_feed,
            companies_now=request.companies_now,
            unknown_tickers=unknown,
        )
        indexed = IndexOutcome()
        if request.index and not request.dry_run:
            indexed = bring_up_to_date(ledger, store, request.index, settings, err)
    if as_json:
        sys.stdout.write(json.dumps(asdict(summary) | {"index": asdict(indexed)}, default=str) + "\n")
    else:
        out.print(describe(summary, indexed), highlight=False, markup=False, soft_wrap=True)
    failed = summary.has_failures or (indexed.summary is not None and indexed.summary.failed > 0)
    return 1 if failed else 0


def bring_up_to_date(ledger: Ledger, store: RawStore, index: str, settings: Settings, err: Console) -> IndexOutcome:
    """Drop what EDGAR has deleted, then run the index job on what is new."""
    from finray.index.writer import IndexWriter
    from finray.models.encoder import encoder_dimension

    backlog, withdrawn, summary = index_backlog(ledger, store, index), 0, None
    if backlog.deleted:
        writer = IndexWriter(index, settings, encoder_dimension(settings.encoder))
        withdrawn = writer.withdraw(backlog.deleted)
        writer.finish()
    if backlog.new:
        summary = index_with_progress(sources_of(backlog, store), index, settings, err)
    return IndexOutcome(withdrawn, summary)


def describe(summary: SyncSummary, indexed: IndexOutcome) -> str:
    """The summary for a person, a few lines."""
    verb = "would be fetched" if summary.dry_run else "still to come"
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
    lines += [f"deleted by EDGAR, kept aside: {d.accession} {d.form} {d.company}: {d.reason}" for d in summary.deleted]
    lines += [f"unknown ticker: {ticker}" for ticker in summary.unknown_tickers]
    lines += [f"failed: {problem.what}: {problem.reason}" for problem in (*summary.problems, *summary.failed)]
    if indexed.withdrawn:
        lines.append(f"index: {indexed.withdrawn:,} deleted filings withdrawn")
    if indexed.summary is not None:
        lines.append(f"index: {describe_index(indexed.summary)}")
    return "\n".join(lines)


def _days(days: Sequence[dt.date]) -> str:
    if not days:
        return ""
    shown = ", ".join(map(str, days[:5]))
    return f"; not complete yet: {shown}{f' and {len(days) - 5:,} more' if len(days) > 5 else ''}"


@contextmanager
def _cluster() -> Iterator[None]:
    """Connected to the cluster where there is one: its limiter is shared. Else Ray starts for indexing only."""
    if not os.environ.get("RAY_ADDRESS"):
        yield
        return
    from finray.cluster.runtime import ray_cluster

    with ray_cluster():
        yield


@contextmanager
def _http(settings: Settings, *, online: bool) -> Iterator[EdgarHttp | None]:
    if not online:
        yield None
        return
    with EdgarHttp(settings.edgar, _limiter(settings.edgar.requests_per_second)) as http:
        yield http


def _limiter(per_second: float) -> Limiter:
    if not os.environ.get("RAY_ADDRESS"):
        return LocalLimiter(per_second)
    from finray.cluster.edgar_limiter import ClusterLimiter

    return ClusterLimiter(per_second)


@contextmanager
def _progress(err: Console) -> Iterator[Report]:
    with progress_bar(err, "EDGAR") as report:
        yield report

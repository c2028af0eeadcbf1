"""One sync: find out what was filed, fetch what is missing into the raw store, and bring an index up to date with it.

A run may end at any moment, and the next one does the rest: the ledger records each step that is done, and a step that
was done but not recorded is recognized when it is repeated.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from finray.core.errors import EdgarBlockedError, UsageError
from finray.core.settings import Settings
from finray.edgar import schedule
from finray.edgar.companies_now import read_companies_now
from finray.edgar.contact import check_pace, checked_contact
from finray.edgar.download import forget_old
from finray.edgar.dumps import read_dumps, read_edgar_feed
from finray.edgar.fetch import Fetched, fetch_all
from finray.edgar.http import EdgarHttp
from finray.edgar.indexes import read_indexes
from finray.edgar.indexing import IndexNew, IndexOutcome, bring_up_to_date
from finray.edgar.ledger import Entry, Ledger
from finray.edgar.limiter import Limiter, LocalLimiter
from finray.edgar.run import Problem, Report, Run, SyncSummary, silent
from finray.edgar.selection import Selection, named_companies, parse_forms, read_companies
from finray.edgar.store import RawStore
from finray.edgar.tickers import wanted_ciks
from finray.edgar.unpack import Unpacker
from finray.index.writing.writer import RunUpkeep, here

EDGAR_FEED = "edgar"


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """The arguments of ``finray sync``. ``from_feed`` are locations of dumps, or "edgar" for EDGAR's own feed archives;
    ``tickers`` and ``ciks`` are list files, ``companies`` tickers and CIKs. Without any of these three, all companies
    are wanted."""

    raw: str
    since: dt.date
    index: str | None = None
    until: dt.date | None = None
    forms: str = "10-K,10-Q,8-K"
    tickers: str | None = None
    ciks: str | None = None
    companies: Sequence[str] = ()
    from_feed: Sequence[str] = ()
    dry_run: bool = False
    retry_failed: bool = False
    recheck: bool = False
    companies_now: bool = False


def sync(
    request: SyncRequest,
    settings: Settings,
    index_new: IndexNew,
    *,
    limiter: Callable[[float], Limiter] = LocalLimiter,
    upkeep: RunUpkeep = here,
    unpacker: Unpacker | None = None,
    progress: Report = silent,
) -> tuple[SyncSummary, IndexOutcome]:
    """Fetch what is missing, and index it with ``index_new`` if the request names an index.

    ``limiter`` makes a limiter from requests per second; ``upkeep`` runs the upkeep of the index; ``unpacker`` unpacks
    dumps, by default this process, one after the other. Raises UsageError, SettingsError for a contact or pace that
    EDGAR does not allow, SourceError.
    """
    now = dt.datetime.now(dt.UTC)
    until = request.until or now.date()
    if request.since > until:
        today = "" if request.until else ", today by this machine's clock"
        raise UsageError(f"--since {request.since} is after --until {until}{today}")
    dumps = [uri for uri in request.from_feed if uri != EDGAR_FEED]
    edgar_feed = len(dumps) < len(request.from_feed)
    asks_edgar = edgar_feed or not dumps
    files = ((request.tickers, "tickers"), (request.ciks, "ciks"))
    lists = [read_companies(uri, kind) for uri, kind in files if uri is not None]
    if request.companies:
        lists.append(named_companies(request.companies))
    with ExitStack() as stack:
        http = None
        if asks_edgar or any(companies.tickers for companies in lists):
            checked_contact(settings.edgar.contact)
            check_pace(settings.edgar.requests_per_second, os.environ.get("EDGAR_BASE_URL"))
            pace = limiter(settings.edgar.requests_per_second)
            http = stack.enter_context(EdgarHttp(settings.edgar, pace))
        store = RawStore(request.raw)
        ciks, unknown = wanted_ciks(lists, store, http, dry_run=request.dry_run)
        selection = Selection(request.since, until, parse_forms(request.forms), ciks)
        ledger = Ledger(store.ledger_uri, read_only=request.dry_run)
        run = Run(
            store=store,
            ledger=ledger,
            selection=selection,
            settings=settings.edgar,
            now=now,
            progress=progress,
            dry_run=request.dry_run,
            retry_failed=request.retry_failed,
            recheck=request.recheck,
            dumps=dumps,
            edgar_feed=edgar_feed,
            companies_now=request.companies_now,
        )
        summary = sync_raw(run, http if asks_edgar else None, unpacker)
        summary.unknown_tickers = unknown
        indexed = IndexOutcome()
        if request.index and not request.dry_run:
            indexed = bring_up_to_date(ledger, store, request.index, settings, index_new, upkeep)
    return summary, indexed


def sync_raw(run: Run, http: EdgarHttp | None, unpacker: Unpacker | None = None) -> SyncSummary:
    """Read dumps; with ``http``, read EDGAR's feed archives, or its indexes and every missing filing.

    Raises SourceError if the raw store cannot be used or a dump does not exist.
    """
    started = time.monotonic()
    try:
        for uri in run.dumps:
            read_dumps(run, uri, unpacker)
        if http is not None and run.edgar_feed:
            read_edgar_feed(run, http, unpacker)
        elif http is not None:
            read_indexes(run, http)
            if run.companies_now:
                read_companies_now(run, http)
            if not run.dry_run:
                todo = _pending(run)
                for number, fetched in enumerate(fetch_all(run, http, todo), start=1):
                    _count(run, fetched)
                    run.ledger.note(fetched.entry)
                    run.progress(number, len(todo), f"filings, {len(run.summary.failed)} failed")
    except EdgarBlockedError as error:
        run.problem("EDGAR", f"{error}. This run sends no more requests: run the same command again later")
    finally:
        run.ledger.tidy()
    if not run.dry_run:
        for folder in {run.scratch(), run.store.unfinished or run.scratch()}:
            forget_old(folder)
    summary = run.summary
    summary.waiting = len(_pending(run))
    summary.incomplete_days = schedule.incomplete_days(run.selection, run.ledger, run.now, run.settings.give_up_after)
    summary.complete_until = schedule.watermark(run.selection, run.now, summary.incomplete_days)
    if http is not None:
        summary.requests, summary.pauses = http.requests, http.limiter.pauses
    summary.seconds = time.monotonic() - started
    summary.dry_run = run.dry_run
    return summary


def _pending(run: Run) -> list[Entry]:
    """Wanted entries to fetch, the oldest first; with ``retry_failed`` also those skipped or failed too often."""
    due = [
        entry
        for entry in run.ledger.entries()
        if (entry.is_due(run.settings.give_up_after) or (run.retry_failed and entry.state in ("failed", "skipped")))
        and run.selection.wants(entry.listed)
        and run.selection.covers(entry.listed.day)
    ]
    return sorted(due, key=lambda entry: (entry.listed.day, entry.listed.accession))


def _count(run: Run, fetched: Fetched) -> None:
    """Add one outcome to the summary; the ledger still has the entry as it was before."""
    summary, entry = run.summary, fetched.entry
    before = run.ledger.get(entry.listed.accession)
    match fetched.how:
        case "skipped":
            summary.skip(entry.reason.partition(":")[0])
        case "failed":
            reason = f"{entry.reason} (failed in {entry.tries} runs)"
            summary.failed.append(Problem(entry.listed.url, reason))
        case "adopted":
            summary.adopted += 1
        case "fetched":
            summary.fetched += 1
            summary.bytes_fetched += fetched.size
    if fetched.how in ("fetched", "adopted"):
        summary.corrected += bool(before and before.sha256 and before.sha256 != entry.sha256)

"""One run: find out what was filed, and fetch what is missing into the raw store.

A run may end at any moment, and the next one does the rest: each step is noted in the ledger once it is done, or found
done when it is repeated.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Sequence

from finray.core.errors import EdgarBlockedError
from finray.edgar import schedule
from finray.edgar.company import read_companies_now
from finray.edgar.download import forget_old
from finray.edgar.dumps import read_dumps, read_edgar_feed
from finray.edgar.fetch import Fetched, fetch_all
from finray.edgar.http import EdgarHttp
from finray.edgar.indexes import read_indexes
from finray.edgar.ledger import Entry, pending
from finray.edgar.run import Run
from finray.edgar.summary import Problem, SyncSummary


def sync_raw(
    run: Run,
    http: EdgarHttp | None,
    *,
    dumps: Sequence[str] = (),
    edgar_feed: bool = False,
    companies_now: bool = False,
    unknown_tickers: tuple[str, ...] = (),
) -> SyncSummary:
    """Read ``dumps``; with ``http``, read EDGAR's feed archives, or its indexes and every missing filing.

    ``companies_now`` also requests each chosen company's filings that no index lists yet.

    Raises SourceError if the raw store cannot be used or a dump does not exist.
    """
    started = time.monotonic()
    try:
        for uri in dumps:
            read_dumps(run, uri)
        if http is not None and edgar_feed:
            read_edgar_feed(run, http)
        elif http is not None:
            read_indexes(run, http)
            if companies_now:
                read_companies_now(run, http)
            if not run.dry_run:
                _fetch_pending(run, http)
    except EdgarBlockedError as error:
        run.problem("EDGAR", f"{error}. This run sends no more requests: run the same command again later")
    finally:
        run.ledger.tidy()
    if not run.dry_run:
        for folder in {run.scratch(), run.store.unfinished or run.scratch()}:
            forget_old(folder, dt.datetime.now(dt.UTC))
    summary = run.summary
    summary.waiting = len(_pending(run))
    summary.incomplete_days = schedule.incomplete_days(run.selection, run.ledger, run.now, run.settings.give_up_after)
    summary.complete_until = schedule.watermark(run.selection, run.now, summary.incomplete_days)
    summary.unknown_tickers = unknown_tickers
    if http is not None:
        summary.requests, summary.pauses = http.requests, http.limiter.pauses
    summary.seconds = time.monotonic() - started
    summary.dry_run = run.dry_run
    return summary


def _fetch_pending(run: Run, http: EdgarHttp) -> None:
    todo = _pending(run)
    for number, fetched in enumerate(fetch_all(run, http, todo), start=1):
        _count(run, fetched)
        run.ledger.note(fetched.entry)
        run.progress(number, len(todo), f"filings, {len(run.summary.failed)} failed")


def _pending(run: Run) -> list[Entry]:
    entries = pending(run.ledger.entries(), run.settings.give_up_after, retry_failed=run.retry_failed)
    return [entry for entry in entries if run.selection.wants(entry.listed) and run.selection.covers(entry.listed.day)]


def _count(run: Run, fetched: Fetched) -> None:
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

"""One run: ask what was filed, and bring what is missing into the raw store.

Whatever ends a run, at any moment, the next one does what is left: each step is noted in the ledger after it is done,
or found done when it is tried again.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Sequence
from dataclasses import replace

from finray.core.errors import EdgarBlockedError
from finray.edgar import schedule
from finray.edgar.company import read_companies_now
from finray.edgar.download import forget_old
from finray.edgar.dumps import read_dumps, read_edgar_feed
from finray.edgar.fetch import Fetched, Fetcher
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
    """Read ``dumps``; with ``http``, EDGAR's feed archives or else its indexes and every filing that is missing.

    ``companies_now`` asks for each chosen company too, for what no index lists yet.

    Raises SourceError where the raw store cannot be used or a dump does not exist.
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
        run.problem("EDGAR", f"{error}. Nothing more was asked in this run: run the same command again later")
    finally:
        run.ledger.tidy()
    if not run.dry_run:
        for folder in {run.scratch(), run.store.unfinished or run.scratch()}:
            forget_old(folder, dt.datetime.now(dt.UTC))
    return replace(_summary(run, http, time.monotonic() - started), unknown_tickers=unknown_tickers)


def _fetch_pending(run: Run, http: EdgarHttp) -> None:
    todo = _pending(run)
    fetcher = Fetcher(http, run.store, run.scratch(), run.settings)
    for number, fetched in enumerate(fetcher.fetch_all(todo), start=1):
        _count(run, fetched)
        run.ledger.note(fetched.entry)
        run.progress(number, len(todo), f"filings, {len(run.tally.failed)} failed")


def _pending(run: Run) -> list[Entry]:
    entries = pending(run.ledger.entries(), run.settings.give_up_after, retry_failed=run.retry_failed)
    return [entry for entry in entries if run.selection.wants(entry.listed) and run.selection.covers(entry.listed.day)]


def _count(run: Run, fetched: Fetched) -> None:
    tally, entry = run.tally, fetched.entry
    before = run.ledger.get(entry.listed.accession)
    if fetched.how in ("fetched", "adopted"):
        tally.corrected += bool(before and before.sha256 and before.sha256 != entry.sha256)
    if fetched.how == "fetched":
        tally.fetched += 1
        tally.bytes_fetched += fetched.size
    elif fetched.how == "adopted":
        tally.adopted += 1
    elif fetched.how == "skipped":
        tally.skipped[entry.reason.partition(":")[0]] += 1
    else:
        tally.failed.append(Problem(entry.listed.url, f"{entry.reason} (run {entry.tries} that failed to get it)"))


def _summary(run: Run, http: EdgarHttp | None, seconds: float) -> SyncSummary:
    tally, give_up = run.tally, run.settings.give_up_after
    return SyncSummary(
        indexes_read=tally.indexes_read,
        indexes_unchanged=tally.indexes_unchanged,
        archives_read=tally.archives_read,
        listed=tally.listed,
        fetched=tally.fetched,
        adopted=tally.adopted,
        bytes_fetched=tally.bytes_fetched,
        skipped=dict(tally.skipped),
        failed=tuple(tally.failed),
        problems=tuple(tally.problems),
        deleted=tuple(tally.deleted),
        corrected=tally.corrected,
        waiting=len(_pending(run)),
        complete_until=schedule.watermark(run.selection, run.ledger, run.now, give_up),
        incomplete_days=tuple(schedule.incomplete_days(run.selection, run.ledger, run.now, give_up)),
        requests=http.requests if http else 0,
        pauses=http.limiter.pauses if http else 0,
        seconds=seconds,
        dry_run=run.dry_run,
    )

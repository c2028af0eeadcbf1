"""One sync as a user asks for it: the raw store brought up to date with EDGAR, then an index with the store."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from finray.core.errors import UsageError
from finray.core.settings import Settings
from finray.edgar.companies import wanted_ciks
from finray.edgar.contact import check_pace, checked_contact
from finray.edgar.http import EdgarHttp
from finray.edgar.indexing import IndexNew, IndexOutcome, bring_up_to_date
from finray.edgar.ledger import Ledger
from finray.edgar.limiter import Limiter, LocalLimiter
from finray.edgar.run import Report, Run, silent
from finray.edgar.selection import Selection, parse_forms
from finray.edgar.store import RawStore
from finray.edgar.summary import SyncSummary
from finray.edgar.sync import sync_raw

EDGAR_FEED = "edgar"


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What ``finray sync`` is asked for. ``from_feed`` are dumps: locations, or "edgar" for EDGAR's own feed archives;
    ``tickers`` and ``ciks`` are list files."""

    raw: str
    since: dt.date
    index: str | None = None
    until: dt.date | None = None
    forms: str = "10-K,10-Q,8-K"
    tickers: str | None = None
    ciks: str | None = None
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
    progress: Report = silent,
) -> tuple[SyncSummary, IndexOutcome]:
    """Fetch what is missing, and index it with ``index_new`` if the request names an index.

    ``limiter`` makes the limiter of so many requests a second. Raises UsageError, SettingsError for a contact or pace
    that EDGAR does not allow, SourceError.
    """
    now = dt.datetime.now(dt.UTC)
    until = request.until or now.date()
    if request.since > until:
        today = "" if request.until else ", today by this machine's clock"
        raise UsageError(f"--since {request.since} is after --until {until}{today}")
    dumps = [uri for uri in request.from_feed if uri != EDGAR_FEED]
    edgar_feed = len(dumps) < len(request.from_feed)
    listed = edgar_feed or not dumps
    with ExitStack() as stack:
        http = None
        if listed or request.tickers:
            checked_contact(settings.edgar.contact)
            check_pace(settings.edgar.requests_per_second, os.environ.get("EDGAR_BASE_URL"))
            pace = limiter(settings.edgar.requests_per_second)
            http = stack.enter_context(EdgarHttp(settings.edgar, pace))
        store = RawStore(request.raw)
        ciks, unknown = wanted_ciks(request.tickers, request.ciks, store, http, dry_run=request.dry_run)
        selection = Selection(request.since, until, parse_forms(request.forms), ciks)
        ledger = Ledger(store.ledger_uri, read_only=request.dry_run)
        run = Run(
            store, ledger, selection, settings.edgar, now, progress, request.dry_run, request.retry_failed,
            request.recheck,
        )  # fmt: skip
        summary = sync_raw(
            run, http if listed else None, dumps=dumps, edgar_feed=edgar_feed, companies_now=request.companies_now,
            unknown_tickers=unknown,
        )  # fmt: skip
        indexed = IndexOutcome()
        if request.index and not request.dry_run:
            indexed = bring_up_to_date(ledger, store, request.index, settings, index_new)
    return summary, indexed

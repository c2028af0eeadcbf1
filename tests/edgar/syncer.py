"""Runs a sync in this process, for tests."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from finray.core.settings import EdgarSettings
from finray.edgar.http import EdgarHttp
from finray.edgar.ledger import Entry, Ledger
from finray.edgar.limiter import Limiter, LocalLimiter
from finray.edgar.run import Run, SyncSummary
from finray.edgar.selection import Selection, parse_forms
from finray.edgar.store import RawStore
from finray.edgar.sync import sync_raw
from finray.edgar.unpack import Unpacker

CONTACT = "Finray Tests filings@finray.test"
NOW = dt.datetime(2024, 3, 20, 12, tzinfo=dt.UTC)
SINCE, UNTIL = dt.date(2023, 1, 2), NOW.date()


@dataclass
class Syncer:
    """Runs a sync into one raw store, each as a new process would."""

    raw: str
    settings: EdgarSettings

    def __call__(
        self,
        *,
        since: dt.date = SINCE,
        until: dt.date = UNTIL,
        forms: str = "10-K,10-Q,8-K",
        ciks: frozenset[str] | None = None,
        now: dt.datetime = NOW,
        online: bool = True,
        limiter: Limiter | None = None,
        settings: EdgarSettings | None = None,
        unpacker: Unpacker | None = None,
        **options: Any,
    ) -> SyncSummary:
        settings = settings or self.settings
        store = RawStore(self.raw)
        ledger = Ledger(store.ledger_uri, read_only=options.get("dry_run", False))
        run = Run(store, ledger, Selection(since, until, parse_forms(forms), ciks), settings, now, **options)
        if not online:
            return sync_raw(run, None, unpacker)
        with EdgarHttp(settings, limiter or LocalLimiter(settings.requests_per_second)) as http:
            return sync_raw(run, http, unpacker)

    @property
    def ledger(self) -> Ledger:
        return Ledger(RawStore(self.raw).ledger_uri, read_only=True)

    def rows(self) -> dict[str, Entry]:
        """The ledger's, by accession number."""
        return {entry.listed.accession: entry for entry in self.ledger.entries()}

    def stored(self) -> dict[str, bytes]:
        """Path under filings/ -> content, of every raw filing."""
        folder = Path(self.raw) / "filings"
        return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.txt"))}

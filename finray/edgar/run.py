"""The state that the steps of one sync share."""

from __future__ import annotations

import datetime as dt
import hashlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from finray.core.settings import EdgarSettings
from finray.edgar.ledger import Entry, IndexRead, Ledger
from finray.edgar.selection import Selection
from finray.edgar.store import RawStore
from finray.edgar.summary import Deletion, Problem, SyncSummary
from finray.storage.locations import is_s3


class Report(Protocol):
    def __call__(self, done: int, total: int, note: str = "") -> None: ...


def silent(done: int, total: int, note: str = "") -> None:
    """Reports no progress."""


@dataclass(frozen=True, slots=True)
class Run:
    """``now`` is fixed for the whole run. A ``dry_run`` reads indexes and dumps but writes nothing; ``recheck`` reads
    indexes again; ``retry_failed`` retries filings that were given up."""

    store: RawStore
    ledger: Ledger
    selection: Selection
    settings: EdgarSettings
    now: dt.datetime
    progress: Report = silent
    dry_run: bool = False
    retry_failed: bool = False
    recheck: bool = False
    summary: SyncSummary = field(default_factory=SyncSummary)

    def __post_init__(self) -> None:
        self.ledger.distrust(self.now)

    @property
    def key(self) -> str:
        return self.selection.key()

    def problem(self, what: str, error: Exception | str) -> None:
        self.summary.problems.append(Problem(what, str(error)))

    def note_read(
        self,
        unit: str,
        since: dt.date,
        until: dt.date,
        *,
        listed: int,
        wanted: int,
        validator: dict[str, str],
        missing: bool = False,
    ) -> None:
        self.ledger.note_index(IndexRead(unit, self.key, since, until, listed, wanted, missing, validator, self.now))

    def delete(self, entry: Entry, reason: str) -> None:
        """Move a filing that EDGAR has deleted aside. The next index update withdraws it from the index."""
        listed = entry.listed
        if not self.dry_run:
            self.store.retire(listed.accession, reason)
        self.ledger.note(Entry(listed, "deleted", reason, 0, entry.sha256, entry.size))
        self.summary.deleted.append(Deletion(listed.accession, listed.company, listed.form, reason))

    def scratch(self) -> Path:
        """The folder for partial downloads, the same in every run on this machine so that they can be resumed."""
        if self.settings.scratch:
            return Path(self.settings.scratch)
        if is_s3(self.store.uri):
            name = hashlib.sha256(self.store.uri.encode()).hexdigest()[:16]
            return Path(tempfile.gettempdir()) / f"finray-edgar-{name}"
        return Path(self.store.uri) / ".partial"

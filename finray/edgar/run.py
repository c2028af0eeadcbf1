"""The state that the steps of one sync share, and its summary."""

from __future__ import annotations

import datetime as dt
import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from finray.core.settings import EdgarSettings
from finray.edgar import schedule
from finray.edgar.ledger import Entry, IndexRead, Ledger
from finray.edgar.listing import day_unit
from finray.edgar.selection import Selection
from finray.edgar.store import RawStore
from finray.storage.locations import is_s3

Span = tuple[dt.date, dt.date]
"""The first and the last day."""


class Report(Protocol):
    def __call__(self, done: int, total: int, note: str = "") -> None: ...


def silent(done: int, total: int, note: str = "") -> None:
    """Reports no progress."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An index, archive or filing that could not be read or fetched, and why. The next run tries it again."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Deletion:
    accession: str
    company: str
    form: str
    reason: str


@dataclass(slots=True)
class SyncSummary:
    """What a run has done so far; the fields from ``waiting`` on are filled in at its end.

    ``listed`` counts the wanted filings of indexes and dumps. ``adopted`` filings were already in the raw store because
    a run was killed; ``waiting`` ones are still pending. ``complete_until`` is the watermark: every wanted filing up to
    that day is there. The next run retries ``incomplete_days``.
    """

    indexes_read: int = 0
    indexes_unchanged: int = 0
    archives_read: int = 0
    listed: int = 0
    fetched: int = 0
    adopted: int = 0
    bytes_fetched: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    failed: list[Problem] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    deleted: list[Deletion] = field(default_factory=list)
    corrected: int = 0
    waiting: int = 0
    complete_until: dt.date | None = None
    incomplete_days: list[dt.date] = field(default_factory=list)
    unknown_tickers: tuple[str, ...] = ()
    requests: int = 0
    pauses: int = 0
    seconds: float = 0.0
    dry_run: bool = False

    @property
    def has_failures(self) -> bool:
        return bool(self.failed or self.problems or self.unknown_tickers)

    def skip(self, reason: str) -> None:
        self.skipped[reason] = self.skipped.get(reason, 0) + 1


@dataclass(frozen=True, slots=True)
class Run:
    """One run: where it stores, what it wants, how it works, and what it has done so far.

    ``now`` is fixed for the whole run. A ``dry_run`` reads indexes and dumps but writes nothing; ``recheck`` reads
    indexes again; ``retry_failed`` retries filings that were given up. ``dumps`` are locations; ``edgar_feed`` reads
    EDGAR's feed archives instead of its indexes; ``companies_now`` also requests each chosen company's filings that no
    index lists yet.
    """

    store: RawStore
    ledger: Ledger
    selection: Selection
    settings: EdgarSettings
    now: dt.datetime
    progress: Report = silent
    dry_run: bool = False
    retry_failed: bool = False
    recheck: bool = False
    dumps: Sequence[str] = ()
    edgar_feed: bool = False
    companies_now: bool = False
    summary: SyncSummary = field(default_factory=SyncSummary)

    def __post_init__(self) -> None:
        self.ledger.forget_future_reads(self.now)

    @property
    def key(self) -> str:
        return self.selection.key()

    def problem(self, what: str, error: Exception | str) -> None:
        self.summary.problems.append(Problem(what, str(error)))

    def note_read(
        self, unit: str, span: Span, listed: int, wanted: int, validator: Mapping[str, str], *, missing: bool = False
    ) -> None:
        self.ledger.note_index(IndexRead(unit, self.key, *span, listed, wanted, missing, validator, self.now))

    def note_missing(self, day: dt.date) -> None:
        """Record a holiday, if ``day`` is old enough to be one."""
        if schedule.is_holiday(day, self.now):
            self.note_read(day_unit(day), (day, day), 0, 0, {}, missing=True)

    def delete(self, entry: Entry, reason: str) -> None:
        """Set a filing aside that EDGAR has deleted. The next index update withdraws it from the index."""
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

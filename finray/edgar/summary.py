"""What a sync reports."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field


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

    ``indexes_unchanged`` had nothing new. ``listed`` counts wanted filings. ``adopted`` filings were already in the raw
    store because a run was killed. ``waiting`` are still pending. ``complete_until`` is the watermark: every wanted
    filing up to that day is there. The next run retries ``incomplete_days``.
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

"""What a sync reports."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Problem:
    """An index, archive or filing that could not be read or got, and why. It is tried again in the next run."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Deletion:
    accession: str
    company: str
    form: str
    reason: str


@dataclass(frozen=True, slots=True)
class SyncSummary:
    """``indexes_read`` had something new, ``indexes_unchanged`` had not; ``listed`` are wanted filings. ``adopted``
    were in the raw store already (a run was killed). ``waiting`` are pending after this run. ``complete_until`` is the
    watermark: everything of the range up to that day is there. ``incomplete_days`` are retried by the next run."""

    indexes_read: int = 0
    indexes_unchanged: int = 0
    archives_read: int = 0
    listed: int = 0
    fetched: int = 0
    adopted: int = 0
    bytes_fetched: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    failed: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    deleted: tuple[Deletion, ...] = ()
    corrected: int = 0
    waiting: int = 0
    complete_until: dt.date | None = None
    incomplete_days: tuple[dt.date, ...] = ()
    unknown_tickers: tuple[str, ...] = ()
    requests: int = 0
    pauses: int = 0
    seconds: float = 0.0
    dry_run: bool = False

    @property
    def has_failures(self) -> bool:
        return bool(self.failed or self.problems or self.unknown_tickers)


@dataclass
class Tally:
    """What a run has done so far; the fields are those of the summary."""

    indexes_read: int = 0
    indexes_unchanged: int = 0
    archives_read: int = 0
    listed: int = 0
    fetched: int = 0
    adopted: int = 0
    bytes_fetched: int = 0
    corrected: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: list[Problem] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    deleted: list[Deletion] = field(default_factory=list)

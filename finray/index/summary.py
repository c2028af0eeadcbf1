"""What an index run reports: while it goes, and at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from finray.core.types import Mark


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """Where a run is: files done of those with work to do."""

    done: int
    total: int
    indexed: int
    failed: int
    chunks: int
    seconds: float
    last_uri: str = ""


class ReportProgress(Protocol):
    """Called before the first file (``done`` 0), after each one, and after the last commit."""

    def __call__(self, progress: IndexProgress, /) -> None: ...


@dataclass(frozen=True, slots=True)
class IndexFailure:
    source_uri: str
    stage: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class MarkedFiling:
    """An indexed filing to know something of: ``marks`` (``Filing.marks``), and what of its cover is ``unknown``."""

    source_uri: str
    marks: tuple[Mark, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """``skipped`` counts by cause (unchanged, duplicate, failed before); ``ignored`` by extension what
    folders held besides filings. ``pages`` and ``chunks`` are those of this run; ``marked`` are those of its filings
    that were read in part, by OCR or after repair. ``stage_seconds`` add up
    over workers; ``peak_rss_bytes`` adds the largest
    peaks of driver and workers, an upper bound of their peak together; what Ray itself needs comes on top."""

    seen: int
    indexed: int
    skipped: Mapping[str, int]
    failures: tuple[IndexFailure, ...]
    ignored: Mapping[str, int]
    pages: int
    chunks: int
    seconds: float
    marked: tuple[MarkedFiling, ...] = ()
    stage_seconds: Mapping[str, float] = field(default_factory=dict)
    peak_rss_bytes: int = 0

    @property
    def failed(self) -> int:
        return len(self.failures)

    @property
    def failed_by_reason(self) -> Mapping[str, int]:
        return Counter(failure.reason for failure in self.failures)

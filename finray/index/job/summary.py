"""Progress and summary of an index run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from finray.core.filing import Mark


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """``done`` of ``total`` counts files with work to do."""

    done: int
    total: int
    indexed: int
    failed: int
    chunks: int
    seconds: float
    last_uri: str = ""


ReportProgress = Callable[[IndexProgress], None]
"""Called before the first file (``done`` 0), after each one, and after the last commit."""


@dataclass(frozen=True, slots=True)
class IndexFailure:
    source_uri: str
    stage: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class MarkedFiling:
    """An indexed filing with ``marks`` (``Filing.marks``); ``unknown`` are the cover facts that could not be read."""

    source_uri: str
    marks: tuple[Mark, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """``skipped`` counts files by cause (unchanged, duplicate, failed before), ``ignored`` other files of the folders
    by extension. ``pages``, ``chunks`` and ``marked`` filings (read in part, by OCR or after repair) are those of this
    run; ``left_out`` counts the documents of their submissions that were not indexed, by type. ``stage_seconds`` are
    summed over workers. ``peak_rss_bytes`` is an upper bound: the sum of the peaks of driver and workers, without Ray
    itself."""

    seen: int
    indexed: int
    skipped: Mapping[str, int]
    failures: tuple[IndexFailure, ...]
    ignored: Mapping[str, int]
    pages: int
    chunks: int
    seconds: float
    marked: tuple[MarkedFiling, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    stage_seconds: Mapping[str, float] = field(default_factory=dict)
    peak_rss_bytes: int = 0

    @property
    def failed(self) -> int:
        return len(self.failures)

"""A planned run of the index job: the files to index, and what counts and commits them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from finray.core.settings import Settings
from finray.index.job.stages import Collector
from finray.index.job.summary import ReportProgress
from finray.index.writing.plan import Plan
from finray.index.writing.writer import IndexWriter
from finray.storage.locations import Listing, list_sources


@dataclass(frozen=True, slots=True)
class IndexRun:
    """``collector`` takes each file of ``plan`` once; ``writer`` has claimed the index."""

    settings: Settings
    listing: Listing
    writer: IndexWriter
    plan: Plan
    collector: Collector


def start_run(
    sources: Sequence[str],
    index_uri: str,
    settings: Settings,
    dimension: int,
    *,
    progress: ReportProgress | None = None,
    retry_failed: bool = False,
) -> IndexRun:
    """List ``sources`` (folders, files, globs, ``s3://``) and plan which of their files to index into ``index_uri``,
    whose vectors have ``dimension``. Raises SourceError, IndexMismatchError."""
    started = time.monotonic()
    listing = list_sources(sources)
    writer = IndexWriter(index_uri, settings, dimension)
    plan = writer.plan(listing.files, retry_failed=retry_failed)
    return IndexRun(settings, listing, writer, plan, Collector(writer, plan, progress, started))

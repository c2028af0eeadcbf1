"""The stages of indexing (read, parse with chunking, write) as plain functions, and the collector of results.

The stage between, embedding, is ``embedding.py`` beside this file. ``in_process.py`` runs the stages in sequence,
``finray/cluster/index_job.py`` on a cluster.
"""

from __future__ import annotations

import hashlib
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from finray.core.errors import FilingError, SourceError
from finray.core.settings import FilingSettings
from finray.index import schema
from finray.index.job.parser_process import ParserProcess
from finray.index.job.summary import IndexFailure, IndexProgress, IndexSummary, MarkedFiling, ReportProgress
from finray.index.writing import bundle as bundles
from finray.index.writing.fragments import WriteTarget, WrittenFilings, write_filings
from finray.index.writing.plan import Plan
from finray.index.writing.writer import IndexWriter, RunUpkeep, here
from finray.storage.locations import Listing, SourceFile, read_bytes


@dataclass(frozen=True, slots=True)
class StagedFiling:
    """A file on its way into the index: the bytes of its bundle until they are written, or the error that set it aside.

    ``content_sha256`` is None if the file could not be read. ``seconds`` is by stage, ``peak_rss_bytes`` the peak
    resident memory of each process that worked on it, by "host:pid:role".
    """

    file: SourceFile
    content_sha256: str | None
    bundle: bytes | None
    error: FilingError | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    peak_rss_bytes: dict[str, int] = field(default_factory=dict)
    chunks: int = 0


def read_and_parse(file: SourceFile, parser: ParserProcess, settings: FilingSettings, who: str) -> StagedFiling:
    """Read a file and parse it. Problems of the file are returned, not raised."""
    if file.size > settings.max_bytes:
        detail = f"{file.size:,} bytes are over filings.max_bytes = {settings.max_bytes:,}"
        return StagedFiling(file, None, None, FilingError("read", "too_large", detail))
    started = time.monotonic()
    try:
        content = read_bytes(file.uri)
    except SourceError as error:
        return StagedFiling(file, None, None, FilingError("read", "unreadable", str(error)))
    sha256 = hashlib.sha256(content).hexdigest()
    seconds = {"read": time.monotonic() - started}
    try:
        parsed = parser.parse(content, file.uri)
    except FilingError as error:
        seconds["parse"] = time.monotonic() - started - seconds["read"]
        return StagedFiling(file, sha256, None, error, seconds, {f"{who}:read": own_peak_rss()})
    seconds["parse"] = parsed.seconds
    memory = {f"{who}:read": own_peak_rss(), f"{who}:parse": parsed.peak_rss_bytes}
    return StagedFiling(file, sha256, parsed.bundle, None, seconds, memory)


@dataclass(frozen=True, slots=True)
class WrittenBatch:
    """Files that have passed all stages. ``filings`` are the rows of those that were not set aside, None if all were;
    ``seconds`` is the time it took to write them."""

    staged: tuple[StagedFiling, ...]
    filings: WrittenFilings | None
    seconds: float
    peak_rss_bytes: dict[str, int]


def write(staged: Sequence[StagedFiling], target: WriteTarget, who: str) -> WrittenBatch:
    """Write embedded filings into data files of the index; others pass through. Raises SourceError."""
    started = time.monotonic()
    filings = [(bundles.from_bytes(one.bundle), one.file.modified) for one in staged if one.bundle is not None]
    written = write_filings(target, filings) if filings else None
    return WrittenBatch(
        tuple(replace(one, bundle=None) for one in staged),
        written,
        time.monotonic() - started,
        {f"{who}:write": own_peak_rss()},
    )


def own_peak_rss() -> int:
    """Peak resident memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Collector:
    """Counts finished filings, passes them to the committer and reports progress.

    Takes each file of ``plan`` once, in any order: first ``take``, then ``add`` with its rows. ``started`` is the
    monotonic time at which the run began.
    """

    def __init__(self, writer: IndexWriter, plan: Plan, progress: ReportProgress | None, started: float) -> None:
        self._writer = writer
        self._planned = {planned.file.uri: planned for planned in plan.todo}
        self._left = set(self._planned)
        self._skipped = Counter(plan.skipped)
        self._progress = progress
        self._started = started
        self._failures: list[IndexFailure] = []
        self._marked: list[MarkedFiling] = []
        self._left_out: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._memory: dict[str, int] = {}
        self._report()

    def take(self, staged: StagedFiling) -> None:
        """Count a file that has been embedded or set aside."""
        planned = self._planned[staged.file.uri]
        self._left.remove(staged.file.uri)
        for stage, seconds in staged.seconds.items():
            self._seconds[stage] += seconds
        self._remember(staged.peak_rss_bytes)
        self._counts["chunks"] += staged.chunks
        if (error := staged.error) is not None:
            with self._timed("commit"):
                self._writer.fail(planned, staged.content_sha256, error)
            self._failures += [
                IndexFailure(file.uri, error.stage, error.reason, error.detail)
                for file in (planned.file, *planned.copies)
            ]
        else:
            self._skipped["duplicate"] += len(planned.copies)
        self._report(staged.file.uri)

    def add(self, batch: WrittenBatch) -> None:
        """Commit rows of files that ``take`` has counted."""
        self._seconds["write"] += batch.seconds
        self._remember(batch.peak_rss_bytes)
        if (written := batch.filings) is None:
            return
        with self._timed("commit"):
            outcomes = self._writer.add(self._planned, written)
        filings = schema.filings_from_table(written.filings)
        pages, chunks = (written.filings[name].to_pylist() for name in ("n_pages", "n_chunks"))
        for outcome, filing, n_pages, n_chunks in zip(outcomes, filings, pages, chunks, strict=True):
            if outcome != "indexed":
                self._skipped[outcome] += 1
                self._counts["chunks"] -= n_chunks
                continue
            if filing.marks:
                self._marked.append(MarkedFiling(filing.source_uri, filing.marks, filing.unknown))
            self._left_out.update(filing.left_out)
            self._counts["indexed"] += 1
            self._counts["pages"] += n_pages

    def finish(self, listing: Listing, slots: Mapping[str, int], run: RunUpkeep = here) -> IndexSummary:
        """Commit the rest and bring search indexes up to date, which ``run`` runs. ``slots`` is the number of
        simultaneous processes of each role besides this one.

        Raises RuntimeError if a planned file is missing.
        """
        with self._timed("commit"):
            self._writer.flush()
        with self._timed("upkeep"):
            self._writer.finish(run)
        if self._left:
            raise RuntimeError(f"{len(self._left)} files were lost on the way, such as {min(self._left)!r}")
        self._report()
        return IndexSummary(
            seen=len(listing.files),
            indexed=self._counts["indexed"],
            skipped=dict(+self._skipped),
            failures=tuple(sorted(self._failures, key=lambda failure: failure.source_uri)),
            ignored=listing.ignored,
            pages=self._counts["pages"],
            chunks=self._counts["chunks"],
            seconds=time.monotonic() - self._started,
            marked=tuple(sorted(self._marked, key=lambda marked: marked.source_uri)),
            left_out=dict(sorted(self._left_out.items())),
            stage_seconds=dict(self._seconds),
            peak_rss_bytes=own_peak_rss() + self._workers_peak(slots),
        )

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self._seconds[stage] += time.monotonic() - started

    def _remember(self, peaks: Mapping[str, int]) -> None:
        for process, peak in peaks.items():
            self._memory[process] = max(peak, self._memory.get(process, 0))

    def _workers_peak(self, slots: Mapping[str, int]) -> int:
        """Sum of the largest peaks of each role, one for each of its simultaneous processes."""
        total = 0
        for role, count in slots.items():
            peaks = [peak for process, peak in self._memory.items() if process.endswith(f":{role}")]
            total += sum(sorted(peaks, reverse=True)[:count])
        return total

    def _report(self, last_uri: str = "") -> None:
        if self._progress is not None:
            total, seconds = len(self._planned), time.monotonic() - self._started
            indexed, chunks, failed = self._counts["indexed"], self._counts["chunks"], len(self._failures)
            self._progress(IndexProgress(total - len(self._left), total, indexed, failed, chunks, seconds, last_uri))

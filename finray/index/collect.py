"""The end of the pipeline: pass finished filings to the committer, count them, and report progress."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping

from finray.index import bundle as bundles
from finray.index.plan import Plan
from finray.index.stages import StagedFiling, own_peak_rss
from finray.index.summary import IndexFailure, IndexProgress, IndexSummary, MarkedFiling, ReportProgress
from finray.index.writer import IndexWriter
from finray.storage.locations import Listing


class Collector:
    """Takes each staged filing of ``plan`` once, in any order. ``started`` is the monotonic time of the run's start."""

    def __init__(self, writer: IndexWriter, plan: Plan, progress: ReportProgress | None, started: float) -> None:
        self._writer = writer
        self._planned = {planned.file.uri: planned for planned in plan.todo}
        self._total = len(plan.todo)
        self._skipped = Counter(plan.skipped)
        self._progress = progress
        self._started = started
        self._failures: list[IndexFailure] = []
        self._marked: list[MarkedFiling] = []
        self._counts: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._memory: dict[str, int] = {}
        self._report()

    def take(self, staged: StagedFiling) -> None:
        planned = self._planned.pop(staged.source_uri)
        for stage, seconds in staged.seconds.items():
            self._seconds[stage] += seconds
        for process, peak in staged.peak_rss_bytes.items():
            self._memory[process] = max(peak, self._memory.get(process, 0))
        started = time.monotonic()
        if (error := staged.error) is not None:
            self._writer.fail(planned, staged.content_sha256, error)
            self._failures += [
                IndexFailure(file.uri, error.stage, error.reason, error.detail)
                for file in (planned.file, *planned.copies)
            ]
        else:
            assert staged.bundle is not None
            bundle = bundles.from_bytes(staged.bundle)
            outcome = self._writer.add(planned, bundle)
            if outcome == "indexed":
                filing = bundle.filing
                if filing.marks:
                    self._marked.append(MarkedFiling(staged.source_uri, filing.marks, filing.unknown))
                self._counts["indexed"] += 1
                self._counts["pages"] += bundle.pages.num_rows
                self._counts["chunks"] += bundle.chunks.num_rows
            else:
                self._skipped[outcome] += 1
            self._skipped["duplicate"] += len(planned.copies)
        self._seconds["write"] += time.monotonic() - started
        self._report(staged.source_uri)

    def finish(self, listing: Listing, slots: Mapping[str, int]) -> IndexSummary:
        """Commit the rest. ``slots`` is the number of simultaneous processes of each role besides this one.

        Raises RuntimeError if a planned file is missing.
        """
        started = time.monotonic()
        self._writer.finish()
        self._seconds["write"] += time.monotonic() - started
        if self._planned:
            raise RuntimeError(f"{len(self._planned)} files were lost on the way, such as {min(self._planned)!r}")
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
            stage_seconds=dict(self._seconds),
            peak_rss_bytes=own_peak_rss() + self._workers_peak(slots),
        )

    def _workers_peak(self, slots: Mapping[str, int]) -> int:
        """Sum of the largest peaks of each role, as many as it has processes at a time."""
        total = 0
        for role, count in slots.items():
            peaks = [peak for process, peak in self._memory.items() if process.endswith(f":{role}")]
            total += sum(sorted(peaks, reverse=True)[:count])
        return total

    def _report(self, last_uri: str = "") -> None:
        if self._progress is not None:
            self._progress(
                IndexProgress(
                    done=self._total - len(self._planned),
                    total=self._total,
                    indexed=self._counts["indexed"],
                    failed=len(self._failures),
                    chunks=self._counts["chunks"],
                    seconds=time.monotonic() - self._started,
                    last_uri=last_uri,
                )
            )

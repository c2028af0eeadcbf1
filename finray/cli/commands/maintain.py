"""``finray maintain`` and jobs/maintain.py: compaction, clean-up and statistics of an index."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict

from rich.console import Console

from finray.core.settings import Settings
from finray.index import ann, layout, maintenance, schema, search_indexes
from finray.index.statistics import IndexStatistics, index_statistics
from finray.index.writer import claim


def run_maintain(index: str, settings: Settings, *, as_json: bool, out: Console) -> int:
    """Tidy, then say what there is. Takes the index over: an index job that is writing stops at its next commit."""
    layout.read_record(index)
    started, before = time.monotonic(), index_statistics(index)
    claim(index)
    maintenance.sweep(index, thorough=True)
    vectors = maintenance.tidy(index, settings.index) or ann.refresh(index, settings.index)
    search_indexes.note_checksums(index, schema.CHUNKS)
    after, seconds = index_statistics(index), time.monotonic() - started
    if as_json:
        found = {"ann": asdict(vectors) if vectors else None}
        values = {"before": asdict(before), "after": asdict(after), "seconds": seconds}
        sys.stdout.write(json.dumps(values | found) + "\n")
    else:
        out.print(describe(before, after, vectors, seconds), highlight=False, markup=False, soft_wrap=True)
    return 0


def describe(before: IndexStatistics, after: IndexStatistics, vectors: ann.AnnReport | None, seconds: float) -> str:
    forms = ", ".join(f"{count:,} {form}" for form, count in after.filings.items())
    filed = f", filed {after.first} to {after.last}" if after.first else ""
    lines = [f"{sum(after.filings.values()):,} filings of {after.companies:,} companies ({forms}){filed}"]
    for name, table in after.tables.items():
        was = before.tables[name].fragments
        indexes = ", ".join(f"{index} {kind}" for index, kind in table.search_indexes.items())
        lines.append(
            f"{name}: {table.rows:,} rows in {table.fragments:,} fragments (was {was:,}), {table.versions:,} versions, "
            f"{table.bytes / 2**20:.1f} MiB"
            + (f"; {indexes}, {table.unindexed_rows:,} rows not covered" if indexes else "")
        )
    if vectors is None:
        lines.append("vector search: exact")
    elif vectors.done == "dropped":
        lines.append(f"vector search: exact again, the approximate index was dropped; {vectors.why}")
    else:
        lines.append(
            f"vector search: recall@10 {vectors.recall:.3f} [{vectors.low:.3f}, {vectors.high:.3f}] of exact over "
            f"{vectors.queries} stored vectors; {vectors.probes:,} of {vectors.partitions:,} partitions, trained with "
            f"{vectors.trained_rows:,} of {vectors.rows:,} vectors; {vectors.done}: {vectors.why}"
        )
    lines.append(f"{after.bytes / 2**20:.1f} MiB (was {before.bytes / 2**20:.1f}) in {seconds:.1f} s")
    return "\n".join(lines)

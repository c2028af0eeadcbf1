"""``finray maintain`` and jobs/maintain.py: compaction, clean-up and statistics of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from finray.cli.options import IndexOption, JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit

if TYPE_CHECKING:
    from finray.index.tables.ann import AnnReport
    from finray.index.upkeep.maintain import Upkeep


def maintain(
    index: IndexOption, preset: PresetOption = "local", set_: SetOption = None, json_: JsonOption = False
) -> int:
    """Compact an index, drop old versions, refresh its search indexes and print statistics. Readers may stay open."""
    from finray.index.upkeep import maintain as upkeep

    done = upkeep.maintain(index, settings_of(preset, set_))
    emit(done, described(done), as_json=json_)
    return 0


def described(done: Upkeep) -> str:
    before, after = done.before, done.after
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
    lines += map(_vector_search, done.ann) if done.ann else ["vector search: exact"]
    lines.append(f"{after.bytes / 2**20:.1f} MiB (was {before.bytes / 2**20:.1f}) in {done.seconds:.1f} s")
    return "\n".join(lines)


def _vector_search(report: AnnReport) -> str:
    search = f"vector search in {report.table}"
    if not report.queries:
        return f"{search}: exact again, {report.rows:,} vectors need no approximate index"
    recall = (
        f"recall@10 {report.recall:.3f} [{report.low:.3f}, {report.high:.3f}] of exact over {report.queries} stored "
        f"vectors; {report.probes:,} of {report.partitions:,} partitions of {report.rows:,} vectors"
    )
    if report.done == "dropped":
        return f"{search}: exact again, the approximate index was dropped for its {recall}"
    return f"{search}: {recall}; {report.done}"

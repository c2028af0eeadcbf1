"""Upkeep of an index: compaction, clean-up, search indexes, and what there was before and after."""

from __future__ import annotations

import time
from dataclasses import dataclass

from finray.core.settings import Settings
from finray.index import ann, layout, maintenance, schema, search_indexes
from finray.index.statistics import IndexStatistics, index_statistics
from finray.index.writer import claim


@dataclass(frozen=True, slots=True)
class Upkeep:
    """``ann`` is the report on the approximate vector index, None if search is exact."""

    before: IndexStatistics
    after: IndexStatistics
    seconds: float
    ann: ann.AnnReport | None


def maintain(index: str, settings: Settings) -> Upkeep:
    """Tidy the index. Takes it over: an index job that is writing stops at its next commit.

    Raises IndexMissingError.
    """
    layout.read_record(index)
    started, before = time.monotonic(), index_statistics(index)
    claim(index)
    maintenance.sweep(index, thorough=True)
    vectors = maintenance.tidy(index, settings.index) or ann.refresh(index, settings.index)
    search_indexes.note_checksums(index, schema.CHUNKS)
    return Upkeep(before, index_statistics(index), time.monotonic() - started, vectors)

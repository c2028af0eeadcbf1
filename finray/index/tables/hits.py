"""Searches of one table by words or by vector, and the order of rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from lance.query import MatchQuery

from finray.core.arrays import Floats
from finray.index import schema
from finray.models.encoder import Vectors

ROW_ID: Final = "_rowid"
"""Lance's column of row ids, which never change in one version of a table."""
RowIds = npt.NDArray[np.int64]
PAGE_PLACE: Final = ("filing_id", "page")
CHUNK_PLACE: Final = ("filing_id", "page", "start", "end")


@dataclass(frozen=True, slots=True)
class AnnSearch:
    """Number of partitions that a search probes. ``refine`` is the number of rows scored anew for each row returned,
    None if the index holds the vectors themselves."""

    probes: int
    refine: int | None


def committed_rows(revisions: Mapping[str, str], filing_ids: Collection[str] | None, *, stale: bool) -> str | None:
    """SQL condition for committed rows of ``filing_ids`` (None: all); ``stale`` if the table has uncommitted rows too.

    ``revisions`` maps filing ids to committed revisions.
    """
    ids = revisions.keys() if filing_ids is None else dict.fromkeys(filing_ids)
    clauses = [] if filing_ids is None else [f"filing_id IN ({schema.literals(ids)})"]
    if stale:
        committed = dict.fromkeys(revisions[filing_id] for filing_id in ids if filing_id in revisions)
        clauses.append(f"revision IN ({schema.literals(committed)})" if committed else "false")
    return " AND ".join(clauses) or None


def text_hits(table: Any, place: Sequence[str], query: str, where: str | None, limit: int) -> pa.Table:
    """The ``limit`` rows of a Lance table with the best BM25 scores for ``query``: ``place`` and score."""
    options = {"full_text_query": MatchQuery(query, "text"), "filter": where, "prefilter": True, "limit": limit}
    hits = table.to_table(columns=[*place, "_score"], **options)
    return ranked(hits.rename_columns([*place, "score"]), place)


def row_scores(table: Any, query: str, where: str | None, limit: int) -> tuple[RowIds, Floats]:
    """The row ids and BM25 scores of the ``limit`` best rows of a Lance table for ``query``. The columns of a place
    would take a third of the time."""
    options = {"full_text_query": MatchQuery(query, "text"), "filter": where, "prefilter": True, "limit": limit}
    hits = table.to_table(columns=[ROW_ID, "_score"], **options)
    return hits[ROW_ID].to_numpy().astype(np.int64), hits["_score"].to_numpy().astype(np.float64)


def vector_hits(
    table: Any,
    place: Sequence[str],
    vector: Vectors,
    where: str | None,
    limit: int,
    *,
    how: AnnSearch | None = None,
) -> pa.Table:
    """The ``limit`` rows of a Lance table with the largest dot product of column ``vector``: ``place`` and score.
    Exact, or by an approximate index; the score of each row is exact in any case."""
    nearest = {"column": "vector", "q": vector, "k": limit, "metric": "dot", "use_index": how is not None}
    if how is not None:
        nearest["nprobes"] = how.probes
        if how.refine is not None:
            nearest["refine_factor"] = how.refine
    hits = table.to_table(columns=[*place, "_distance"], nearest=nearest, filter=where, prefilter=True)
    score = pc.subtract(pa.scalar(1.0, pa.float32()), hits["_distance"])  # Lance's dot distance is 1 - dot
    return ranked(hits.select(list(place)).append_column("score", score), place)


def by_place(table: pa.Table, order: Sequence[str]) -> pa.Table:
    """Rows ordered by filing id, then by the rest of ``order``. A filing's rows are usually stored together and in
    order, so slices suffice; sorting vectors would take longer than reading them."""
    ids = table["filing_id"].to_pylist()
    if not ids:
        return table
    starts = [row for row in range(len(ids)) if row == 0 or ids[row] != ids[row - 1]]
    if len(starts) != len({ids[row] for row in starts}):
        return table.sort_by([(column, "ascending") for column in order])
    runs = sorted(zip(starts, [*starts[1:], len(ids)], strict=True), key=lambda run: ids[run[0]])
    return pa.concat_tables([table.slice(start, stop - start) for start, stop in runs])


def ranked(hits: pa.Table, columns: Sequence[str]) -> pa.Table:
    """``hits``, best first. Ties are broken by place, for a deterministic ranking."""
    place = [column for column in columns if column in CHUNK_PLACE]
    return hits.sort_by([("score", "descending"), *((column, "ascending") for column in place)])

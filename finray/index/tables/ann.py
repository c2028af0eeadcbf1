"""Approximate vector indexes over chunks, pages and covers: when LanceDB has one, and how much of it a search reads.

Up to ``index.ann_rows`` chunks and ``index.ann_pages`` pages or covers, search is exact and reads every vector. Past
that size an index clusters the vectors into partitions, and a search reads the half with the nearest centroids. The
index of chunks holds the vectors themselves (IVF_FLAT), that of pages or covers a byte a value (IVF_SQ): a search reads
a quarter as much, takes ``REFINE`` times as many rows as it needs, and scores these by the table's own vectors.

LanceDB chooses the partitions and adds new vectors to them. ``maintain`` measures the recall: an index below
``index.ann_recall`` is trained anew, and dropped if that does not help, which makes search exact again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from finray.core.bootstrap import estimate
from finray.core.settings import IndexSettings
from finray.index import layout, schema
from finray.index.tables.hits import AnnSearch, vector_hits

NAME: Final = "vector_idx"
_SHARE: Final = 2
"""A search reads one partition in so many: recall@10 is .98 and more on overlapping synthetic clusters and 1.000 on
filings, in an eighth of the time of exact search (docs/benchmarks.md)."""
_LEAST_PROBES: Final = 8
REFINE: Final = 4
"""A search of quantized vectors scores this many rows anew for each one that it returns."""
_K, _QUERIES, _SEED, _TIE = 10, 100, 0, 1e-6
Action = Literal["built", "rebuilt", "kept", "dropped"]


@dataclass(frozen=True, slots=True)
class _Kind:
    """``refine`` and the columns that identify a row; the setting for the size that needs an index."""

    refine: int | None
    place: tuple[str, ...]
    setting: Literal["ann_rows", "ann_pages"]


_KINDS: Final = {
    schema.CHUNKS: _Kind(None, ("filing_id", "page", "start"), "ann_rows"),
    schema.PAGES: _Kind(REFINE, ("filing_id", "page"), "ann_pages"),
    schema.FILINGS: _Kind(REFINE, ("filing_id",), "ann_pages"),
}
TABLES: Final = tuple(_KINDS)
"""Tables that may have an approximate index."""


@dataclass(frozen=True, slots=True)
class AnnReport:
    """``recall`` is recall@10 against exact search over ``queries`` stored vectors, each without itself; ``low`` and
    ``high`` are its 95% interval. ``probes`` is the number of ``partitions`` that a search reads."""

    table: str
    rows: int
    partitions: int
    probes: int
    recall: float
    low: float
    high: float
    queries: int
    done: Action


def search_of(name: str, table: Any) -> AnnSearch | None:
    """How to search this version of the table ``name`` approximately; None if search is exact."""
    if not any(index.name == NAME for index in table.describe_indices()):
        return None
    return AnnSearch(max(_LEAST_PROBES, math.ceil(_partitions(table) / _SHARE)), _KINDS[name].refine)


def _partitions(table: Any) -> int:
    return int(table.stats.index_stats(NAME)["indices"][0]["num_partitions"])


def update(uri: str, name: str, settings: IndexSettings) -> Action | None:
    """Build the index of a table that is too large for exact search, drop that of a small one. None if the table
    neither has nor needs one."""
    table = layout.open_table(uri, name)
    exists = any(index.name == NAME for index in table.describe_indices())
    if table.count_rows() <= getattr(settings, _KINDS[name].setting):
        if exists:
            layout.write_table(uri, name, lambda latest: latest.drop_index(NAME))
        return "dropped" if exists else None
    if not exists:
        layout.write_table(uri, name, partial(_train, name))
    return "kept" if exists else "built"


def _train(name: str, table: Any) -> None:
    """Build the index of a table that is open for writing, or replace it."""
    from lancedb.index import IvfFlat, IvfSq

    kind = IvfSq if _KINDS[name].refine else IvfFlat
    table.create_index("vector", config=kind(distance_type="dot"), name=NAME, replace=True)


def measure(uri: str, name: str, settings: IndexSettings, done: Action) -> AnnReport:
    """The recall of the index after ``update`` has ``done`` its part. If it is below ``index.ann_recall``, an index
    that was kept is trained anew, and a new one dropped. Reads every vector."""
    table = layout.open_table(uri, name)
    rows, how = table.count_rows(), search_of(name, table)
    if how is None:
        return AnnReport(name, rows, 0, 0, 1.0, 1.0, 1.0, 0, "dropped")
    found = estimate(_recalls(name, table, how))
    assert found.value is not None and found.low is not None and found.high is not None
    if found.value < settings.ann_recall:
        if done == "kept":
            layout.write_table(uri, name, partial(_train, name))
            return measure(uri, name, settings, "rebuilt")
        layout.write_table(uri, name, lambda latest: latest.drop_index(NAME))
        done = "dropped"
    partitions = _partitions(table)
    probes = min(how.probes, partitions)
    return AnnReport(name, rows, partitions, probes, found.value, found.low, found.high, found.n, done)


def _recalls(name: str, table: Any, how: AnnSearch) -> list[float]:
    """For some stored vectors as queries, the share in [0, 1] of their exact neighbors that a search finds. Any hit as
    near as the tenth neighbor is as good: the same sentence stands in many filings."""
    rows, place = table.count_rows(), _KINDS[name].place
    chosen = np.random.default_rng(_SEED).choice(rows, size=min(_QUERIES, rows), replace=False)
    taken = table.take(np.sort(chosen).tolist(), columns=[*place, "vector"])
    # A page without text has the zero vector, to which all rows are equally near: it measures nothing.
    taken = taken.filter(pa.array(schema.vectors_matrix(taken["vector"]).any(axis=1)))
    queries = schema.vectors_matrix(taken["vector"])
    best = np.full((len(queries), _K + 1), -np.inf, dtype=np.float32)
    for batch in table.to_batches(columns=["vector"], batch_size=8192):
        scores = queries @ schema.vectors_matrix(batch["vector"]).T
        best = np.sort(np.concatenate([best, scores], axis=1), axis=1)[:, -(_K + 1) :]
    recalls = []
    # The best neighbor is the query itself, or an equal vector.
    for query, own, tenth in zip(queries, taken.select(list(place)).to_pylist(), best[:, 0], strict=True):
        hits = vector_hits(table, place, query, None, _K + 1, how=how).to_pylist()
        good = sum(hit["score"] >= tenth - _TIE for hit in hits if any(hit[key] != own[key] for key in place))
        recalls.append(min(good, _K) / _K)
    return recalls

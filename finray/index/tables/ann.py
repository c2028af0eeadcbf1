"""Approximate vector indexes over chunks, pages and covers: when to build one, and how many partitions a search probes.

Up to ``index.ann_rows`` chunks and ``index.ann_pages`` pages or covers, search is exact and reads every vector. Past
that size an index clusters the vectors into partitions, and a search probes the few with the nearest centroids. The
index of chunks holds the vectors themselves (IVF_FLAT), that of pages or covers a byte a value (IVF_SQ): a search reads
a quarter as much, takes ``REFINE`` times as many rows as it needs, and scores these by the table's own vectors.
No fixed number of probes guarantees a recall, so recall is measured with stored vectors as queries, and the number of
probes follows from it. The table's configuration keeps the result for readers.

Vectors added after training go into the existing partitions. The index is retrained once their number has doubled, or
if recall falls below ``index.ann_recall``. Open readers keep their version.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
from lance.indices import IndicesBuilder

from finray.core.bootstrap import estimate
from finray.core.settings import IndexSettings
from finray.index import layout, schema
from finray.index.tables import search_indexes
from finray.index.tables.search_indexes import SearchIndex
from finray.index.tasks import Run, in_turn
from finray.models.encoder import Vectors

NAME: Final = "vector_idx"
_DEFAULT_PROBES: Final = 64
"""Probes of an index without a recorded measurement."""
_CONFIG_KEY: Final = "finray.ann"
_K: Final = 10
_QUERIES: Final = 100
_SEED: Final = 0
_FIRST_PROBES: Final = 8
_GROWTH: Final = 2.0
_TIE: Final = 1e-6
_METRIC: Final = "dot"
_SAMPLE_RATE: Final = 256
"""Most vectors that the center of a partition is trained with."""
REFINE: Final = 4
"""A search of quantized vectors scores this many rows anew for each one that it returns."""
Action = Literal["built", "rebuilt", "kept", "dropped"]


@dataclass(frozen=True, slots=True)
class _Kind:
    """Lance's type of an index, the columns that identify a row, and the setting for the size that needs an index."""

    lance: Literal["IVF_FLAT", "IVF_SQ"]
    place: tuple[str, ...]
    setting: Literal["ann_rows", "ann_pages"]


_KINDS: Final = {
    schema.CHUNKS: _Kind("IVF_FLAT", ("filing_id", "page", "start"), "ann_rows"),
    schema.PAGES: _Kind("IVF_SQ", ("filing_id", "page"), "ann_pages"),
    schema.FILINGS: _Kind("IVF_SQ", ("filing_id",), "ann_pages"),
}
TABLES: Final = tuple(_KINDS)
"""Tables that may have an approximate index."""


@dataclass(frozen=True, slots=True)
class AnnSearch:
    """Number of partitions that a search probes. ``refine`` is the number of rows scored anew for each row returned,
    None if the index holds the vectors themselves."""

    probes: int
    refine: int | None


@dataclass(frozen=True, slots=True)
class AnnNote:
    """The recorded state of the index: number of training vectors, partitions, and probes of a search."""

    trained_rows: int
    partitions: int
    probes: int


@dataclass(frozen=True, slots=True)
class AnnReport:
    """``recall`` is recall@10 against exact search over ``queries`` stored vectors, each without itself; ``low`` and
    ``high`` are its 95% interval. ``why`` is the reason for ``done``, for a person."""

    table: str
    rows: int
    trained_rows: int
    partitions: int
    probes: int
    recall: float
    low: float
    high: float
    queries: int
    done: Action
    why: str


def search_of(name: str, table: Any) -> AnnSearch | None:
    """How to search this version of the table ``name`` approximately; None if search is exact."""
    if not exists(table):
        return None
    note = note_of(table)
    return AnnSearch(note.probes if note else _DEFAULT_PROBES, _refine(name))


def _refine(name: str) -> int | None:
    return REFINE if _KINDS[name].lance == "IVF_SQ" else None


def exists(table: Any) -> bool:
    """Whether an open table has an approximate vector index."""
    return any(index.name == NAME for index in table.describe_indices())


def note_of(table: Any) -> AnnNote | None:
    note = table.config().get(_CONFIG_KEY)
    return AnnNote(**json.loads(note)) if note else None


def build_if_due(uri: str, name: str, settings: IndexSettings, run: Run = in_turn) -> AnnReport | None:
    """Train an index if the table is too large for exact search and has none. Reads every vector once more."""
    table = layout.open_table(uri, name)
    rows = table.count_rows()
    setting = _KINDS[name].setting
    if rows <= getattr(settings, setting) or exists(table):
        return None
    return _train(uri, name, settings, "built", f"{rows:,} vectors are over index.{setting}", run=run)


def refresh(uri: str, name: str, settings: IndexSettings) -> AnnReport | None:
    """Measure the index; retrain, build or drop it if needed. None if search is exact and remains so.

    Reads every vector, twice if it trains.
    """
    table = layout.open_table(uri, name)
    if not exists(table):
        return build_if_due(uri, name, settings)
    rows = table.count_rows()
    setting = _KINDS[name].setting
    if rows <= getattr(settings, setting):
        layout.write_table(uri, name, lambda latest: latest.drop_index(NAME))
        why = f"{rows:,} vectors are not over index.{setting}: search is exact"
        return AnnReport(name, rows, 0, 0, 0, 1.0, 1.0, 1.0, 0, "dropped", why)
    note = note_of(table)
    if note is None:
        return _train(uri, name, settings, "rebuilt", "its training is not recorded")
    if rows >= _GROWTH * note.trained_rows:
        return _train(uri, name, settings, "rebuilt", f"{rows:,} vectors, trained with {note.trained_rows:,}")
    sample = _Sample.of(name, table)
    recalls = sample.recalls(table, note.probes)
    recall = np.mean(recalls)
    if recall >= settings.ann_recall:
        why = f"recall is not below index.ann_recall = {settings.ann_recall}"
        return _report(name, rows, note, recalls, "kept", why)
    why = f"recall {recall:.3f} was below {settings.ann_recall}"
    return _train(uri, name, settings, "rebuilt", why, sample)


def _train(
    uri: str,
    name: str,
    settings: IndexSettings,
    done: Action,
    why: str,
    sample: _Sample | None = None,
    run: Run = in_turn,
) -> AnnReport:
    """Build or replace the index, then choose the number of probes."""
    table = layout.open_table(uri, name)
    rows = table.count_rows()
    partitions = max(1, math.isqrt(rows) // 4)
    if note_of(table) is not None:
        # Until the new measurement is recorded, readers that open the table use the default number of probes.
        layout.write_table(uri, name, lambda latest: latest.delete_config_keys([_CONFIG_KEY]))

    def build(latest: Any) -> None:
        (centroids,) = run([partial(_centroids, uri, name, latest.version, partitions)])
        options = {"metric": _METRIC, "num_partitions": partitions, "ivf_centroids": centroids}
        index = SearchIndex(NAME, "vector", _KINDS[name].lance, options)
        search_indexes.build(uri, name, latest, index, latest.get_fragments(), run)

    layout.write_table(uri, name, build)
    ((probes, recalls),) = run([partial(_choose_probes, uri, name, sample, partitions, settings.ann_recall)])
    note = AnnNote(rows, partitions, probes)
    config = {_CONFIG_KEY: json.dumps(asdict(note))}
    layout.write_table(uri, name, lambda latest: latest.update_config(config))
    return _report(name, rows, note, recalls, done, why)


def _centroids(uri: str, name: str, version: int, partitions: int) -> Any:
    """Centers of the partitions, from a sample of the vectors."""
    table = layout.open_table(uri, name, version)
    rate = max(2, min(_SAMPLE_RATE, table.count_rows() // partitions))
    return IndicesBuilder(table, "vector").train_ivf(partitions, distance_type=_METRIC, sample_rate=rate).centroids


def _choose_probes(
    uri: str, name: str, sample: _Sample | None, partitions: int, floor: float
) -> tuple[int, list[float]]:
    """Double the number of probes until the lower end of the recall's interval reaches ``floor``, or all partitions are
    probed, which is exact but for the quantization of candidates."""
    table = layout.open_table(uri, name)
    sample = sample or _Sample.of(name, table)
    probes = min(_FIRST_PROBES, partitions)
    while True:
        recalls = sample.recalls(table, probes)
        low = estimate(recalls).low or 0.0
        if low >= floor or probes == partitions:
            return probes, recalls
        probes = min(2 * probes, partitions)


def _report(name: str, rows: int, note: AnnNote, recalls: Sequence[float], done: Action, why: str) -> AnnReport:
    found = estimate(recalls)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    interval = (found.value, found.low, found.high, found.n)
    return AnnReport(name, rows, note.trained_rows, note.partitions, note.probes, *interval, done, why)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Stored vectors of a table as queries [n, d], the place of each, and the score of its 10th best exact neighbor
    (itself left out). Any hit with that score is as good: the same sentence stands in many filings."""

    name: str
    queries: Vectors
    places: tuple[Mapping[str, Any], ...]
    tenth: Vectors

    @classmethod
    def of(cls, name: str, table: Any) -> _Sample:
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
        # The best one is the query itself, or an equal vector.
        return cls(name, queries, tuple(taken.select(list(place)).to_pylist()), best[:, 0])

    def recalls(self, table: Any, probes: int) -> list[float]:
        """For each query, the share in [0, 1] of its exact neighbors that a search finds."""
        found = []
        options = {"column": "vector", "k": _K + 1, "metric": _METRIC, "nprobes": probes}
        if (refine := _refine(self.name)) is not None:
            options["refine_factor"] = refine
        for query, place, tenth in zip(self.queries, self.places, self.tenth, strict=True):
            hits = table.to_table(columns=[*place, "_distance"], nearest=options | {"q": query}).to_pylist()
            others = [hit for hit in hits if any(hit[column] != place[column] for column in place)]
            good = sum(1.0 - hit["_distance"] >= tenth - _TIE for hit in others)
            found.append(min(good, _K) / _K)
        return found

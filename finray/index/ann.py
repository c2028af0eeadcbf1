"""The approximate vector index over chunks: when to build it, and how many partitions a search probes.

Up to ``index.ann_rows`` vectors, search is exact and reads every vector. Past that size an IVF_FLAT index clusters the
vectors into partitions, and a search probes the few with the nearest centroids. No fixed number of probes guarantees a
recall, so recall is measured with stored vectors as queries, and the number of probes follows from it. The table's
configuration keeps the result for readers.

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
from lance.indices import IndicesBuilder

from finray.core.bootstrap import estimate
from finray.core.settings import IndexSettings
from finray.index import layout, schema, search_indexes
from finray.index.search_indexes import SearchIndex
from finray.index.tasks import Run, in_turn
from finray.models.encoder import Vectors

NAME: Final = "vector_idx"
_DEFAULT_PROBES: Final = 64
"""For an index without a recorded measurement."""
_CONFIG_KEY: Final = "finray.ann"
_K: Final = 10
_QUERIES: Final = 100
_SEED: Final = 0
_FIRST_PROBES: Final = 8
_GROWTH: Final = 2.0
_TIE: Final = 1e-6
_METRIC: Final = "dot"
_SAMPLE_RATE: Final = 256
"""Vectors for each partition that its center is trained with, at most."""
_PLACE: Final = ("filing_id", "page", "start")
Action = Literal["built", "rebuilt", "kept", "dropped"]


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


def probes_of(table: Any) -> int | None:
    """Partitions that a search in this version of the table probes; None if search is exact."""
    if not exists(table):
        return None
    note = note_of(table)
    return note.probes if note else _DEFAULT_PROBES


def exists(table: Any) -> bool:
    return any(index.name == NAME for index in table.describe_indices())


def note_of(table: Any) -> AnnNote | None:
    note = table.config().get(_CONFIG_KEY)
    return AnnNote(**json.loads(note)) if note else None


def build_if_due(uri: str, settings: IndexSettings, run: Run = in_turn) -> AnnReport | None:
    """Train an index if the table is too large for exact search and has none. Reads every vector once more."""
    table = layout.open_table(uri, schema.CHUNKS)
    if table.count_rows() <= settings.ann_rows or exists(table):
        return None
    return _train(uri, settings, "built", f"{table.count_rows():,} vectors are over index.ann_rows", run=run)


def refresh(uri: str, settings: IndexSettings) -> AnnReport | None:
    """Measure the index; retrain, build or drop it if needed. None if search is exact and remains so.

    Reads every vector, twice if it trains.
    """
    table = layout.open_table(uri, schema.CHUNKS)
    rows = table.count_rows()
    if not exists(table):
        return build_if_due(uri, settings)
    if rows <= settings.ann_rows:
        layout.write_table(uri, schema.CHUNKS, lambda latest: latest.drop_index(NAME))
        why = f"{rows:,} vectors are not over index.ann_rows: search is exact"
        return AnnReport(rows, 0, 0, 0, 1.0, 1.0, 1.0, 0, "dropped", why)
    note = note_of(table)
    if note is None:
        return _train(uri, settings, "rebuilt", "its training is not recorded")
    if rows >= _GROWTH * note.trained_rows:
        return _train(uri, settings, "rebuilt", f"{rows:,} vectors, trained with {note.trained_rows:,}")
    sample = _Sample.of(table)
    recalls = sample.recalls(table, note.probes)
    if np.mean(recalls) >= settings.ann_recall:
        return _report(rows, note, recalls, "kept", f"recall is not below index.ann_recall = {settings.ann_recall}")
    return _train(uri, settings, "rebuilt", f"recall {np.mean(recalls):.3f} was below {settings.ann_recall}", sample)


def _train(
    uri: str, settings: IndexSettings, done: Action, why: str, sample: _Sample | None = None, run: Run = in_turn
) -> AnnReport:
    """Build or replace the index, then choose the number of probes."""
    table = layout.open_table(uri, schema.CHUNKS)
    rows = table.count_rows()
    partitions = max(1, math.isqrt(rows) // 4)
    if note_of(table) is not None:
        # Until the new measurement is recorded, readers that open the table use the default number of probes.
        layout.write_table(uri, schema.CHUNKS, lambda latest: latest.delete_config_keys([_CONFIG_KEY]))

    def build(latest: Any) -> None:
        (centroids,) = run([partial(_centroids, uri, latest.version, partitions)])
        options = {"metric": _METRIC, "num_partitions": partitions, "ivf_centroids": centroids}
        index = SearchIndex(NAME, "vector", "IVF_FLAT", options)
        search_indexes.build(uri, schema.CHUNKS, latest, index, latest.get_fragments(), run)

    layout.write_table(uri, schema.CHUNKS, build)
    ((probes, recalls),) = run([partial(_choose_probes, uri, sample, partitions, settings.ann_recall)])
    note = AnnNote(rows, partitions, probes)
    config = {_CONFIG_KEY: json.dumps(asdict(note))}
    layout.write_table(uri, schema.CHUNKS, lambda latest: latest.update_config(config))
    return _report(rows, note, recalls, done, why)


def _centroids(uri: str, version: int, partitions: int) -> Any:
    """Centers of the partitions, from a sample of the vectors."""
    table = layout.open_table(uri, schema.CHUNKS, version)
    rate = max(2, min(_SAMPLE_RATE, table.count_rows() // partitions))
    return IndicesBuilder(table, "vector").train_ivf(partitions, distance_type=_METRIC, sample_rate=rate).centroids


def _choose_probes(uri: str, sample: _Sample | None, partitions: int, floor: float) -> tuple[int, list[float]]:
    """Double the number of probes until the lower end of the recall's interval reaches ``floor``, or all partitions are
    probed, which is exact."""
    table = layout.open_table(uri, schema.CHUNKS)
    sample = sample or _Sample.of(table)
    probes = min(_FIRST_PROBES, partitions)
    while True:
        recalls = sample.recalls(table, probes)
        low = estimate(recalls).low or 0.0
        if low >= floor or probes == partitions:
            return probes, recalls
        probes = min(2 * probes, partitions)


def _report(rows: int, note: AnnNote, recalls: Sequence[float], done: Action, why: str) -> AnnReport:
    found = estimate(recalls)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return AnnReport(
        rows, note.trained_rows, note.partitions, note.probes, found.value, found.low, found.high, found.n, done, why
    )


@dataclass(frozen=True, slots=True)
class _Sample:
    """Stored vectors as queries [n, d], the place of each, and the score of its 10th best exact neighbor (itself left
    out). Any hit with that score is as good: the same sentence stands in many filings."""

    queries: Vectors
    places: tuple[Mapping[str, Any], ...]
    tenth: Vectors

    @classmethod
    def of(cls, table: Any) -> _Sample:
        rows = table.count_rows()
        chosen = np.random.default_rng(_SEED).choice(rows, size=min(_QUERIES, rows), replace=False)
        taken = table.take(np.sort(chosen).tolist(), columns=[*_PLACE, "vector"])
        queries = schema.vectors_matrix(taken["vector"])
        best = np.full((len(queries), _K + 1), -np.inf, dtype=np.float32)
        for batch in table.to_batches(columns=["vector"], batch_size=8192):
            scores = queries @ schema.vectors_matrix(batch["vector"]).T
            best = np.sort(np.concatenate([best, scores], axis=1), axis=1)[:, -(_K + 1) :]
        # The best one is the query itself, or an equal vector.
        return cls(queries, tuple(taken.select(list(_PLACE)).to_pylist()), best[:, 0])

    def recalls(self, table: Any, probes: int) -> list[float]:
        """For each query, the share in [0, 1] of its exact neighbors that a search finds."""
        found = []
        for query, place, tenth in zip(self.queries, self.places, self.tenth, strict=True):
            nearest = {"column": "vector", "q": query, "k": _K + 1, "metric": _METRIC, "nprobes": probes}
            hits = table.to_table(columns=[*_PLACE, "_distance"], nearest=nearest).to_pylist()
            others = [hit for hit in hits if any(hit[name] != place[name] for name in _PLACE)]
            good = sum(1.0 - hit["_distance"] >= tenth - _TIE for hit in others)
            found.append(min(good, _K) / _K)
        return found

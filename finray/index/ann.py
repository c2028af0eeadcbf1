"""The approximate vector index of the chunks: when there is one, how many of its partitions a search looks into, and
what share of the exact neighbours it finds.

Exact search reads every vector, which is right up to ``index.ann_rows`` of them. Past that size an IVF_FLAT index cuts
them into partitions around centroids, and a search reads the few whose centroids are nearest. With a fixed number of
those, recall can be anything: it is measured, with stored vectors as queries, and the number is chosen by it. What was
measured stands in the table's configuration, where readers find it.

Vectors that come after the training are put into the partitions that there are; where they are as many again, or where
recall falls below ``index.ann_recall``, the index is trained anew. Readers keep the version that they have opened.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from finray.core.bootstrap import estimate
from finray.core.settings import IndexSettings
from finray.index import layout, schema

NAME: Final = "vector_idx"
DEFAULT_PROBES: Final = 64
"""For an index of which no measurement is noted."""
_NOTE: Final = "finray.ann"
_K: Final = 10
_QUERIES: Final = 100
_SEED: Final = 0
_FIRST_PROBES: Final = 8
_GROWTH: Final = 2.0
_TIE: Final = 1e-6
_PLACE: Final = ("filing_id", "page", "start")
Vectors = NDArray[np.float32]
Done = Literal["built", "rebuilt", "kept", "dropped"]


@dataclass(frozen=True, slots=True)
class AnnNote:
    """What is noted of the index: vectors it was trained with, its partitions, and how many a search looks into."""

    trained_rows: int
    partitions: int
    probes: int


@dataclass(frozen=True, slots=True)
class AnnReport:
    """``recall`` is recall@10 against exact search over ``queries`` stored vectors, each without itself, with its 95%
    interval. ``done`` is "built", "rebuilt", "kept" or "dropped"; ``why`` says it in
    words."""

    rows: int
    trained_rows: int
    partitions: int
    probes: int
    recall: float
    low: float
    high: float
    queries: int
    done: Done
    why: str


def probes_of(table: Any) -> int | None:
    """How many partitions a search in this version of the table looks into; None where search is exact."""
    if not exists(table):
        return None
    noted = note_of(table)
    return noted.probes if noted else DEFAULT_PROBES


def exists(table: Any) -> bool:
    return any(index.name == NAME for index in table.describe_indices())


def note_of(table: Any) -> AnnNote | None:
    noted = table.config().get(_NOTE)
    return AnnNote(**json.loads(noted)) if noted else None


def build_if_due(uri: str, settings: IndexSettings) -> AnnReport | None:
    """Train an index where exact search has stopped being right and there is none. Reads every vector once more."""
    table = layout.open_table(uri, schema.CHUNKS)
    if table.count_rows() <= settings.ann_rows or exists(table):
        return None
    return _train(uri, settings, "built", f"{table.count_rows():,} vectors are over index.ann_rows")


def refresh(uri: str, settings: IndexSettings) -> AnnReport | None:
    """Measure the index that there is, and train it anew, search more of it, or drop it where that is called for. None
    where search is exact and stays so. Reads every vector, twice where it trains."""
    table = layout.open_table(uri, schema.CHUNKS)
    rows = table.count_rows()
    if not exists(table):
        return build_if_due(uri, settings)
    if rows <= settings.ann_rows:
        layout.write_table(uri, schema.CHUNKS, lambda latest: latest.drop_index(NAME))
        why = f"{rows:,} vectors are not over index.ann_rows: exact search is right"
        return AnnReport(rows, 0, 0, 0, 1.0, 1.0, 1.0, 0, "dropped", why)
    noted = note_of(table)
    if noted is None:
        return _train(uri, settings, "rebuilt", "nothing is noted of how it was trained")
    if rows >= _GROWTH * noted.trained_rows:
        return _train(uri, settings, "rebuilt", f"{rows:,} vectors, trained with {noted.trained_rows:,}")
    sample = _Sample.of(table)
    recalls = sample.recalls(table, noted.probes)
    if np.mean(recalls) >= settings.ann_recall:
        return _report(rows, noted, recalls, "kept", f"recall is not below index.ann_recall = {settings.ann_recall}")
    return _train(uri, settings, "rebuilt", f"recall {np.mean(recalls):.3f} was below {settings.ann_recall}", sample)


def _train(uri: str, settings: IndexSettings, done: Done, why: str, sample: _Sample | None = None) -> AnnReport:
    """Build the index in the place of the one that there is, then choose how much of it to search."""
    table = layout.open_table(uri, schema.CHUNKS)
    rows = table.count_rows()
    partitions = max(1, math.isqrt(rows) // 4)
    if note_of(table) is not None:
        # Until the new measurement is noted, readers that open the table look into the default number of partitions.
        layout.write_table(uri, schema.CHUNKS, lambda latest: latest.delete_config_keys([_NOTE]))
    layout.write_table(uri, schema.CHUNKS, partial(_create, partitions))
    table = layout.open_table(uri, schema.CHUNKS)
    sample = sample or _Sample.of(table)
    probes, recalls = _choose(table, sample, partitions, settings.ann_recall)
    noted = AnnNote(rows, partitions, probes)
    note = {_NOTE: json.dumps(asdict(noted))}
    layout.write_table(uri, schema.CHUNKS, lambda latest: latest.update_config(note))
    return _report(rows, noted, recalls, done, why)


def _create(partitions: int, table: Any) -> None:
    table.create_index("vector", "IVF_FLAT", name=NAME, metric="dot", num_partitions=partitions, replace=True)


def _choose(table: Any, sample: _Sample, partitions: int, floor: float) -> tuple[int, list[float]]:
    """The smallest number of partitions, doubling, with which the lower end of the recall's interval reaches the floor;
    all of them where none does, which is exact."""
    probes = min(_FIRST_PROBES, partitions)
    while True:
        recalls = sample.recalls(table, probes)
        low = estimate(recalls).low or 0.0
        if low >= floor or probes == partitions:
            return probes, recalls
        probes = min(2 * probes, partitions)


def _report(rows: int, noted: AnnNote, recalls: Sequence[float], done: Done, why: str) -> AnnReport:
    found = estimate(recalls)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return AnnReport(
        rows, noted.trained_rows, noted.partitions, noted.probes, found.value, found.low, found.high, found.n, done, why
    )


@dataclass(frozen=True, slots=True)
class _Sample:
    """Stored vectors as queries [n, d], where each stands, and the score of the 10th best of its exact neighbours.
    Itself is left out; what scores like the 10th best is as good, for the same sentence stands in many filings."""

    queries: Vectors
    places: tuple[Mapping[str, Any], ...]
    tenth: Vectors

    @classmethod
    def of(cls, table: Any) -> _Sample:
        rows = table.count_rows()
        chosen = np.random.default_rng(_SEED).choice(rows, size=min(_QUERIES, rows), replace=False)
        taken = table.take(np.sort(chosen).tolist(), columns=[*_PLACE, "vector"])
        queries = _matrix(taken["vector"])
        best = np.full((len(queries), _K + 1), -np.inf, dtype=np.float32)
        for batch in table.to_batches(columns=["vector"], batch_size=8192):
            scores = queries @ _matrix(batch["vector"]).T
            best = np.sort(np.concatenate([best, scores], axis=1), axis=1)[:, -(_K + 1) :]
        # The best of all is the query itself, or one that is the same.
        return cls(queries, tuple(taken.select(list(_PLACE)).to_pylist()), best[:, 0])

    def recalls(self, table: Any, probes: int) -> list[float]:
        """Of each query the share of its exact neighbours that a search finds, in [0, 1]."""
        found = []
        for query, place, tenth in zip(self.queries, self.places, self.tenth, strict=True):
            nearest = {"column": "vector", "q": query, "k": _K + 1, "metric": "dot", "nprobes": probes}
            hits = table.to_table(columns=[*_PLACE, "_distance"], nearest=nearest).to_pylist()
            others = [hit for hit in hits if any(hit[name] != place[name] for name in _PLACE)]
            good = sum(1.0 - hit["_distance"] >= tenth - _TIE for hit in others)
            found.append(min(good, _K) / _K)
        return found


def _matrix(column: Any) -> Vectors:
    array = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    values: Vectors = np.asarray(array.flatten(), dtype=np.float32).reshape(len(array), array.type.list_size)
    return values

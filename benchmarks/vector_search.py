"""Exact vector search beside the approximate index, on made-up vectors: recall, latency, and the time to build.

    python benchmarks/vector_search.py [--rows 200000] [--dimension 384] [--queries 200] [--folder FOLDER]

The vectors lie in clusters within clusters, as sentences of filings do. Queries are new ones from the same clusters,
none of them stored. Both searches run over the same table, one query after the other, each once before the clock
starts, with the number of partitions that finray chose (finray/index/ann.py) and with others beside it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from typing import Any

import lance
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from finray.index import ann, layout, schema
from finray.index.reader import vector_hits
from finray.settings import load_settings

_PLACE = ("filing_id", "page", "start")
_WRITE_ROWS = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--folder", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder or None) as folder:
        measure(f"{folder}/index", arguments.rows, arguments.dimension, arguments.queries)


def measure(uri: str, rows: int, dimension: int, queries: int) -> None:
    settings = load_settings(overrides={"encoder.model": "hash", "index.ann_rows": 1}, environment={})
    layout.create(uri, layout.IndexRecord.of(settings, dimension))
    world = _World(dimension)
    for start in range(0, rows, _WRITE_ROWS):
        lance.write_dataset(
            _chunks(world.vectors(min(_WRITE_ROWS, rows - start), start), start),
            layout.table_uri(uri, schema.CHUNKS),
            mode="append",
        )
    asked = world.vectors(queries, rows + 1)
    table = layout.open_table(uri, schema.CHUNKS)
    exact, exact_ms = _search(table, asked, None)
    started = time.perf_counter()
    report = ann.build_if_due(uri, settings.index)
    seconds = time.perf_counter() - started
    assert report is not None
    print(f"{rows:,} vectors of {dimension} dimensions, {queries} queries, {report.partitions} partitions")
    print(f"built and measured in {seconds:.1f} s; {report.probes} partitions a search; recall@10 over stored vectors")
    print(f"{report.recall:.3f} [{report.low:.3f}, {report.high:.3f}], n = {report.queries}")
    print("search                 recall@10   p50 ms   share of exact")
    print(f"exact                      1.000 {exact_ms:8.2f}             1.00")
    table = layout.open_table(uri, schema.CHUNKS)
    for probes in sorted({1, 4, 16, 64, report.probes, report.partitions}):
        if probes <= report.partitions:
            found, ms = _search(table, asked, probes)
            recall = np.mean([len(a & b) / len(a) for a, b in zip(exact, found, strict=True)])
            chosen = " (chosen)" if probes == report.probes else ""
            print(f"{f'{probes} partitions{chosen}':24} {recall:7.3f} {ms:8.2f} {ms / exact_ms:16.2f}")


class _World:
    """Vectors in 50 kinds of 40 clusters each."""

    def __init__(self, dimension: int) -> None:
        random = np.random.default_rng(0)
        kinds = random.normal(size=(50, 1, dimension))
        self._centers = (kinds + 0.7 * random.normal(size=(50, 40, dimension))).reshape(-1, dimension)

    def vectors(self, count: int, seed: int) -> NDArray[np.float32]:
        random = np.random.default_rng(seed)
        some = self._centers[random.integers(0, len(self._centers), count)]
        found = some + random.normal(size=some.shape)
        unit: NDArray[np.float32] = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
        return unit


def _chunks(vectors: NDArray[np.float32], first: int) -> pa.Table:
    rows, dimension = vectors.shape
    numbers = np.arange(first, first + rows)
    columns: dict[str, Any] = {
        "filing_id": [f"f{number // 500}" for number in numbers],
        "revision": [""] * rows,
        "page": numbers % 500 // 5,
        "start": numbers % 5 * 1000,
        "end": numbers % 5 * 1000 + 1000,
        "text": [""] * rows,
        "vector": schema.vectors_array(vectors, dimension),
    }
    return pa.table(columns, schema=schema.chunks_schema(dimension))


def _search(table: Any, queries: NDArray[np.float32], probes: int | None) -> tuple[list[set[tuple[Any, ...]]], float]:
    """What each query finds, as places, and the median time in ms."""
    found, seconds = [], []
    vector_hits(table, _PLACE, queries[0], None, 10, probes=probes)
    for query in queries:
        started = time.perf_counter()
        hits = vector_hits(table, _PLACE, query, None, 10, probes=probes)
        seconds.append(time.perf_counter() - started)
        found.append({tuple(row[name] for name in _PLACE) for row in hits.to_pylist()})
    return found, 1000 * float(np.median(seconds))


if __name__ == "__main__":
    main()

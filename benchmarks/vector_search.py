"""Compare exact vector search with the approximate index: recall, latency, and build time.

    python benchmarks/vector_search.py --index INDEX [--queries 200] [--folder FOLDER]
    python benchmarks/vector_search.py [--rows 200000] [--dimension 384] [--queries 200] [--folder FOLDER]

Uses the chunk vectors of an index, or synthetic ones: overlapping clusters in a few dimensions, and noise in all.
Queries come from the same distribution and are not stored. Both searches run over the same table, one query after the
other, after a warm-up, with the number of partitions that finray reads (finray/index/tables/ann.py) and with others.
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

from finray.core.settings import load_settings
from finray.index import layout, schema
from finray.index.tables import ann
from finray.index.tables.hits import AnnSearch, vector_hits

_PLACE = ("filing_id", "page", "start")
_WRITE_ROWS = 20_000
_LATENT = 24
"""Dimensions in which synthetic clusters differ; sentence vectors have a few dozen relevant ones."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", default="", help="take the vectors of this index")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--folder", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder or None) as folder:
        if arguments.index:
            vectors = stored_vectors(arguments.index)
        else:
            vectors = made_up_vectors(arguments.rows + arguments.queries, arguments.dimension)
        measure(f"{folder}/index", vectors[: -arguments.queries], vectors[-arguments.queries :])


def measure(uri: str, vectors: NDArray[np.float32], asked: NDArray[np.float32]) -> None:
    rows, dimension = vectors.shape
    settings = load_settings(overrides={"encoder.model": "hash", "index.ann_rows": 1}, environment={})
    layout.create(uri, layout.IndexRecord.of(settings, dimension))
    for start in range(0, rows, _WRITE_ROWS):
        some = _chunks(vectors[start : start + _WRITE_ROWS], start)
        lance.write_dataset(some, layout.table_uri(uri, schema.CHUNKS), mode="append")
    table = layout.open_table(uri, schema.CHUNKS)
    exact, exact_ms = _search(table, asked, None)
    started = time.perf_counter()
    done = ann.update(uri, schema.CHUNKS, settings.index)
    assert done is not None
    report = ann.measure(uri, schema.CHUNKS, settings.index, done)
    seconds = time.perf_counter() - started
    print(f"{rows:,} vectors of {dimension} dimensions, {len(asked)} queries, {report.partitions} partitions")
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


def stored_vectors(index: str) -> NDArray[np.float32]:
    """The chunk vectors of an index, shuffled with a fixed seed."""
    column = layout.open_table(index, schema.CHUNKS).to_table(columns=["vector"])["vector"].combine_chunks()
    found = np.asarray(column.flatten(), dtype=np.float32).reshape(len(column), -1)
    return found[np.random.default_rng(0).permutation(len(found))]


def made_up_vectors(count: int, dimension: int) -> NDArray[np.float32]:
    random = np.random.default_rng(0)
    centers = random.normal(size=(2000, _LATENT))
    found = np.empty((count, dimension), dtype=np.float32)
    directions = random.normal(size=(_LATENT, dimension)) / np.sqrt(_LATENT)
    for start in range(0, count, _WRITE_ROWS):
        some = min(_WRITE_ROWS, count - start)
        latent = centers[random.integers(0, len(centers), some)] + 0.7 * random.normal(size=(some, _LATENT))
        part = latent @ directions + 0.3 * random.normal(size=(some, dimension))
        found[start : start + some] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return found


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
    return pa.table(columns, schema=schema.table_schemas(dimension)[schema.CHUNKS])


def _search(table: Any, queries: NDArray[np.float32], probes: int | None) -> tuple[list[set[tuple[Any, ...]]], float]:
    """The hits of each query (filing, page, start), and the median time in ms."""
    found, seconds = [], []
    how = None if probes is None else AnnSearch(probes, None)
    vector_hits(table, _PLACE, queries[0], None, 10, how=how)
    for query in queries:
        started = time.perf_counter()
        hits = vector_hits(table, _PLACE, query, None, 10, how=how)
        seconds.append(time.perf_counter() - started)
        found.append({tuple(row[name] for name in _PLACE) for row in hits.to_pylist()})
    return found, 1000 * float(np.median(seconds))


if __name__ == "__main__":
    main()

"""Indexes of made-up vectors in clusters, for tests of search by vector."""

from __future__ import annotations

import datetime as dt
import json

import lance
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from finray.core.settings import Settings
from finray.core.types import Filing
from finray.index import layout, schema

Vectors = NDArray[np.float32]
DIMENSION = 32
_CLUSTERS = 200
_SPREAD = 1.0


def clustered(count: int, seed: int, *, world: int = 0) -> Vectors:
    """Unit vectors around centers that are those of their ``world``."""
    centers = np.random.default_rng(1000 + world).normal(size=(_CLUSTERS, DIMENSION))
    random = np.random.default_rng(seed)
    noise = random.normal(size=(count, DIMENSION)) * _SPREAD
    found = centers[random.integers(0, _CLUSTERS, count)] + noise
    unit: Vectors = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return unit


def create_index(uri: str, settings: Settings) -> None:
    layout.create(uri, layout.IndexRecord.of(settings, DIMENSION))


def add_filing(uri: str, filing_id: str, vectors: Vectors) -> None:
    """A filing whose chunks have these vectors, on pages of ten."""
    schemas, rows = schema.table_schemas(DIMENSION), len(vectors)
    numbers = np.arange(rows)
    texts = [f"{filing_id} {number}" for number in range(rows)]
    keys = {"filing_id": [filing_id] * rows, "revision": [filing_id] * rows}
    places = {"page": numbers // 10, "start": numbers % 10 * 100, "end": numbers % 10 * 100 + 90}
    columns = {**keys, **places, "text": texts, "vector": schema.vectors_array(vectors, DIMENSION)}
    chunks = pa.table(columns, schema=schemas[schema.CHUNKS])
    lance.write_dataset(chunks, layout.table_uri(uri, schema.CHUNKS), mode="append")
    now = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    row = {
        **schema.filing_row(Filing(filing_id, filing_id, f"/corpus/{filing_id}.htm", filing_id, "Acme", "10-K")),
        **{"revision": filing_id, "source_modified": now, "n_pages": 0, "n_chunks": rows, "n_facts": 0},
        **{"status": "indexed", "indexed_at": now, "summary": filing_id, "vector": vectors[0]},
    }
    assert json.loads(row["provenance"]) == {}
    filings = pa.Table.from_pylist([row], schemas[schema.FILINGS])
    lance.write_dataset(filings, layout.table_uri(uri, schema.FILINGS), mode="append")

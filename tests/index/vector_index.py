"""Indexes of made-up vectors in clusters, for tests of search by vector."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

import lance
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from finray.core.filing import Filing
from finray.core.settings import Settings
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
        **{"revision": filing_id, "source_modified": now, "n_pages": 0, "n_chunks": rows, "n_tables": 0, "n_facts": 0},
        **{"status": "indexed", "indexed_at": now, "summary": filing_id, "vector": vectors[0]},
    }
    assert json.loads(row["provenance"]) == {}
    filings = pa.Table.from_pylist([row], schemas[schema.FILINGS])
    lance.write_dataset(filings, layout.table_uri(uri, schema.FILINGS), mode="append")


def add_filings(uri: str, vectors: Vectors) -> None:
    """Filings of one page without chunks; cover and page of ``f<number>`` have the vector of that number."""
    schemas, ids = schema.table_schemas(DIMENSION), [f"f{number}" for number in range(len(vectors))]
    keys = {"filing_id": ids, "revision": ids, "vector": schema.vectors_array(vectors, DIMENSION)}
    now = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    made = [schema.filing_row(Filing(i, i, f"/corpus/{i}.htm", i, "Acme", "10-K")) for i in ids]
    known = {
        "source_modified": now,
        "n_pages": 1,
        "n_chunks": 0,
        "n_tables": 0,
        "n_facts": 0,
        "status": "indexed",
        "indexed_at": now,
    }
    columns = (
        {name: [row[name] for row in made] for name in made[0]} | keys | {"summary": ids, "digest": [None] * len(ids)}
    )
    columns |= {name: [value] * len(ids) for name, value in known.items()}
    _append(uri, schema.FILINGS, columns, schemas[schema.FILINGS])
    page = dict.fromkeys(("item", "statement", "place", "document", "ocr_doubts"), [None] * len(ids))
    columns = keys | page | {"page": [0] * len(ids), "text": ids, "headings": [""] * len(ids)}
    _append(uri, schema.PAGES, columns, schemas[schema.PAGES])
    sources = {"source_uri": [f"/corpus/{i}.htm" for i in ids], "fingerprint": ids, "content_sha256": ids}
    columns = sources | {"filing_id": ids, "outcome": ["indexed"] * len(ids), "at": [now] * len(ids)}
    _append(uri, schema.SOURCES, columns, schemas[schema.SOURCES])


def _append(uri: str, name: str, columns: Mapping[str, Any], table: pa.Schema) -> None:
    rows = pa.table({field.name: columns[field.name] for field in table}, schema=table)
    lance.write_dataset(rows, layout.table_uri(uri, name), mode="append")

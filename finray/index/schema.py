"""Arrow schemas of the index tables, and the rows of filings, pages, chunks and line items.

Child rows (``pages``, ``chunks``, ``facts``) carry ``revision``, which names the filing's content and who wrote it.
A child row counts only while its (filing_id, revision) stands in ``filings``: that row is the commit mark.
Vectors are float32 of unit length; a page without text has the zero vector.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from finray.core.types import Chunk, Filing, LineItem, Page
from finray.storage.columns import AS_JSON, Scalars, arrow_schema

FORMAT_VERSION: Final = 2
FILINGS: Final = "filings"
PAGES: Final = "pages"
CHUNKS: Final = "chunks"
FACTS: Final = "facts"
SOURCES: Final = "sources"
FAILURES: Final = "failures"
CHILDREN: Final = (PAGES, CHUNKS, FACTS)
COUNT_COLUMNS: Final = {PAGES: "n_pages", CHUNKS: "n_chunks", FACTS: "n_facts"}

_TIME = pa.timestamp("us", tz="UTC")
_KEY = [pa.field("filing_id", pa.string(), nullable=False), pa.field("revision", pa.string(), nullable=False)]
_STORED: Final[Scalars] = AS_JSON | {int: pa.int32(), dt.date: pa.date32()}
_FILING: Final = list(arrow_schema(Filing, _STORED, {"provenance": pa.string()}))  # provenance: a JSON object
_FACT: Final = list(arrow_schema(LineItem, _STORED, {"scale": pa.int64(), "box": pa.list_(pa.float64(), 4)}))
_PAGE: Final = list(arrow_schema(Page, _STORED))
_CHUNK: Final = list(arrow_schema(Chunk, _STORED))


def vector_type(dimension: int) -> pa.DataType:
    return pa.list_(pa.float32(), dimension)


def filings_schema(dimension: int) -> pa.Schema:
    """Cover facts, cover summary and its vector, row counts of the children, and how the row came about."""
    return pa.schema(
        [
            *_FILING,
            pa.field("revision", pa.string(), nullable=False),
            pa.field("source_modified", _TIME, nullable=False),
            pa.field("n_pages", pa.int32(), nullable=False),
            pa.field("n_chunks", pa.int32(), nullable=False),
            pa.field("n_facts", pa.int32(), nullable=False),
            pa.field("status", pa.string(), nullable=False),
            pa.field("indexed_at", _TIME, nullable=False),
            pa.field("summary", pa.string(), nullable=False),
            pa.field("vector", vector_type(dimension), nullable=False),
            pa.field("digest", pa.string()),  # finray.index.digest; null where it was written by an older finray
        ]
    )


def pages_schema(dimension: int) -> pa.Schema:
    return pa.schema(
        [
            *_KEY,
            *_PAGE,
            pa.field("vector", vector_type(dimension), nullable=False),
        ]
    )


def chunks_schema(dimension: int) -> pa.Schema:
    return pa.schema(
        [
            *_KEY,
            *_CHUNK,
            pa.field("vector", vector_type(dimension), nullable=False),
        ]
    )


FACTS_SCHEMA: Final = pa.schema([*_KEY, *_FACT])
SOURCES_SCHEMA: Final = pa.schema(
    [
        pa.field("source_uri", pa.string(), nullable=False),
        pa.field("fingerprint", pa.string(), nullable=False),
        pa.field("content_sha256", pa.string(), nullable=False),
        pa.field("filing_id", pa.string()),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("at", _TIME, nullable=False),
    ]
)
FAILURES_SCHEMA: Final = pa.schema(
    [
        pa.field("source_uri", pa.string(), nullable=False),
        pa.field("content_sha256", pa.string()),
        pa.field("stage", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
        pa.field("at", _TIME, nullable=False),
    ]
)


def table_schemas(dimension: int) -> dict[str, pa.Schema]:
    """Every table of an index by name, for vectors of ``dimension``."""
    return {
        FILINGS: filings_schema(dimension),
        PAGES: pages_schema(dimension),
        CHUNKS: chunks_schema(dimension),
        FACTS: FACTS_SCHEMA,
        SOURCES: SOURCES_SCHEMA,
        FAILURES: FAILURES_SCHEMA,
    }


FILING_COLUMNS: Final = tuple(field.name for field in _FILING)
_LINE_ITEM_COLUMNS: Final = tuple(field.name for field in _FACT)


def filing_row(filing: Filing) -> dict[str, Any]:
    """``filing`` as values of the cover-fact columns of ``filings``."""
    row = {name: getattr(filing, name) for name in FILING_COLUMNS}
    row["aliases"] = list(filing.aliases)
    row["provenance"] = json.dumps(dict(filing.provenance), sort_keys=True)
    return row


def filing_from_row(row: Mapping[str, Any]) -> Filing:
    values = {name: row[name] for name in FILING_COLUMNS}
    values["aliases"] = tuple(row["aliases"])
    values["provenance"] = json.loads(row["provenance"])
    return Filing(**values)


def filings_from_table(table: pa.Table) -> list[Filing]:
    """The filings of rows of ``filings``, in their order. Equal values are one object in all of them: an index holds
    far fewer companies, forms and dates than filings."""
    columns = [_shared(table[name]) for name in FILING_COLUMNS if name != "provenance"]
    provenance = _shared(table["provenance"], json.loads)
    names = [name for name in FILING_COLUMNS if name != "provenance"]
    return [
        Filing(**dict(zip(names, values, strict=True)), provenance=where)
        for where, *values in zip(provenance, *columns, strict=True)
    ]


def _shared(column: pa.ChunkedArray, read: Callable[[Any], Any] = lambda value: value) -> list[Any]:
    """``column`` as Python values, each distinct one made once by ``read``."""
    if pa.types.is_list(column.type):
        known: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        return [known.setdefault(value, value) for value in map(tuple, column.to_pylist())]
    encoded = column.combine_chunks().dictionary_encode()
    values = [read(value) for value in encoded.dictionary.to_pylist()]
    return [None if place is None else values[place] for place in encoded.indices.to_pylist()]


def child_rows(table: str, filing_id: str, revision: str, records: Sequence[Page | Chunk | LineItem]) -> pa.Table:
    """Rows of ``pages``, ``chunks`` or ``facts`` without vectors."""
    columns = {PAGES: _PAGE, CHUNKS: _CHUNK, FACTS: _FACT}[table]
    keys = {"filing_id": [filing_id] * len(records), "revision": [revision] * len(records)}
    values = {column.name: [getattr(record, column.name) for record in records] for column in columns}
    return pa.table(keys | values, schema=pa.schema([*_KEY, *columns]))


def line_items_from_table(table: pa.Table) -> list[tuple[str, LineItem]]:
    """(filing_id, line item) for each row of a ``facts`` table; columns that it lacks are None."""
    # Column by column: a question reads tens of thousands of values here.
    names = [name for name in _LINE_ITEM_COLUMNS if name != "box" and name in table.column_names]
    columns = [table[name].to_pylist() for name in names]
    boxes = [tuple(box) if box is not None else None for box in table["box"].to_pylist()]
    return [
        (filing_id, LineItem(**dict(zip(names, values, strict=True)), box=box))
        for filing_id, box, *values in zip(table["filing_id"].to_pylist(), boxes, *columns, strict=True)
    ]


def vectors_array(vectors: Any, dimension: int) -> pa.FixedSizeListArray:
    """float32 [n, dimension] as an Arrow column, without a copy."""
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1), type=pa.float32()), dimension)


def literals(values: Collection[str]) -> str:
    """``values`` as the SQL literals of an IN list; what they hold cannot end the literal."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)

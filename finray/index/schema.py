"""Arrow schemas of the index tables, and rows of filings, pages, chunks, printed tables and line items.

A child row (``pages``, ``chunks``, ``tables``, ``facts``) has a ``revision``, which identifies the filing's content and
its writer. It counts only while its (filing_id, revision) is in ``filings``: that row is the commit mark.
Vectors are float32 of unit length; a page without text has the zero vector.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import MISSING, Field, fields
from itertools import repeat
from typing import Any, Final

import numpy as np
import pyarrow as pa

from finray.core.filing import Chunk, Filing, LineItem, Page
from finray.core.tables import Table
from finray.models.encoder import Vectors
from finray.storage.columns import AS_JSON, Scalars, arrow_rows, arrow_schema

FORMAT_VERSION: Final = 3
FILINGS: Final = "filings"
PAGES: Final = "pages"
CHUNKS: Final = "chunks"
TABLES: Final = "tables"
FACTS: Final = "facts"
SOURCES: Final = "sources"
FAILURES: Final = "failures"
CHILDREN: Final = (PAGES, CHUNKS, TABLES, FACTS)
BY_FILING: Final = (FILINGS, *CHILDREN)
COUNT_COLUMNS: Final = {PAGES: "n_pages", CHUNKS: "n_chunks", TABLES: "n_tables", FACTS: "n_facts"}
KEYS: Final = dict.fromkeys(BY_FILING, "filing_id") | dict.fromkeys((SOURCES, FAILURES), "source_uri")
"""The column by which rows of each table are replaced, deleted and looked up."""
_CLAUSES_AT_ONCE: Final = 500

_TIME = pa.timestamp("us", tz="UTC")
_STORED: Final[Scalars] = AS_JSON | {int: pa.int32(), dt.date: pa.date32()}
_FILING: Final = list(arrow_schema(Filing, _STORED, {"provenance": pa.string()}))  # provenance: a JSON object
_CHILD: Final = {
    PAGES: list(arrow_schema(Page, _STORED)),
    CHUNKS: list(arrow_schema(Chunk, _STORED)),
    TABLES: list(arrow_schema(Table, _STORED | {int: pa.int64()})),
    FACTS: list(arrow_schema(LineItem, _STORED, {"scale": pa.int64(), "box": pa.list_(pa.float64(), 4)})),
}


def _required(**columns: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind, nullable=False) for name, kind in columns.items()]


_KEY: Final = _required(filing_id=pa.string(), revision=pa.string())


def table_schemas(dimension: int) -> dict[str, pa.Schema]:
    """Every table of an index by name, for vectors of ``dimension``."""
    text = pa.string()
    vector = _required(vector=pa.list_(pa.float32(), dimension))
    counts = dict.fromkeys(COUNT_COLUMNS.values(), pa.int32())
    columns = {
        FILINGS: [
            *_FILING,
            *_required(revision=text, source_modified=_TIME, **counts, status=text, indexed_at=_TIME, summary=text),
            *vector,
            pa.field("digest", text),  # finray.index.tables.digest; null in rows of older versions of finray
        ],
        PAGES: [*_KEY, *_CHILD[PAGES], *vector],
        CHUNKS: [*_KEY, *_CHILD[CHUNKS], *vector],
        TABLES: [*_KEY, *_CHILD[TABLES]],
        FACTS: [*_KEY, *_CHILD[FACTS]],
        SOURCES: [
            *_required(source_uri=text, fingerprint=text, content_sha256=text),
            pa.field("filing_id", text),
            *_required(outcome=text, at=_TIME),
        ],
        FAILURES: [
            *_required(source_uri=text),
            pa.field("content_sha256", text),
            *_required(stage=text, reason=text, detail=text, at=_TIME),
        ],
    }
    return {name: pa.schema(fields) for name, fields in columns.items()}


FILING_COLUMNS: Final = tuple(field.name for field in _FILING)


def filing_row(filing: Filing) -> dict[str, Any]:
    """``filing`` as values of the cover-fact columns of ``filings``."""
    row = {name: getattr(filing, name) for name in FILING_COLUMNS}
    row["aliases"], row["left_out"] = list(filing.aliases), list(filing.left_out)
    row["provenance"] = json.dumps(dict(filing.provenance), sort_keys=True)
    return row


def filings_from_table(table: pa.Table) -> list[Filing]:
    """The filings of rows of ``filings``, in order. Equal values share one object: an index has far fewer companies,
    forms and dates than filings."""
    names = [name for name in FILING_COLUMNS if name != "provenance"]
    columns = [_shared(table[name]) for name in names]
    provenance = _shared(table["provenance"], json.loads)
    return [
        Filing(**dict(zip(names, values, strict=True)), provenance=origins)
        for origins, *values in zip(provenance, *columns, strict=True)
    ]


def _shared(column: pa.ChunkedArray, read: Callable[[Any], Any] = lambda value: value) -> list[Any]:
    """``column`` as Python values; each distinct one is read once, and equal ones share one object."""
    if pa.types.is_list(column.type):
        known: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        return [known.setdefault(value, value) for value in map(tuple, column.to_pylist())]
    encoded = column.combine_chunks().dictionary_encode()
    values = [read(value) for value in encoded.dictionary.to_pylist()]
    return [None if place is None else values[place] for place in encoded.indices.to_pylist()]


def child_rows(
    table: str, filing_id: str, revision: str, records: Sequence[Page | Chunk | Table | LineItem]
) -> pa.Table:
    """Rows of ``pages``, ``chunks``, ``tables`` or ``facts`` without vectors."""
    rows = arrow_rows(records, pa.schema(_CHILD[table]))
    for at, (column, value) in enumerate(zip(_KEY, (filing_id, revision), strict=True)):
        rows = rows.add_column(at, column, pa.repeat(pa.scalar(value), len(records)))
    return rows


def line_items_from_table(table: pa.Table) -> list[tuple[str, LineItem]]:
    """(filing_id, line item) for each row of a ``facts`` table; missing columns have their default, else None."""
    # Column by column and each distinct text once, because a question reads tens of thousands of values here.
    columns = [_line_item_column(table, field) for field in fields(LineItem)]
    return [
        (filing_id, LineItem(*values)) for filing_id, *values in zip(_shared(table["filing_id"]), *columns, strict=True)
    ]


def _line_item_column(table: pa.Table, field: Field[Any]) -> Iterable[Any]:
    if field.name not in table.column_names:
        return repeat(None if field.default is MISSING else field.default, table.num_rows)
    column = table[field.name]
    if field.name == "box":
        boxes = map(tuple, column.combine_chunks().flatten().to_numpy().reshape(-1, 4).tolist())
        return [next(boxes) if there else None for there in column.is_valid().to_pylist()]
    return column.to_pylist() if pa.types.is_floating(column.type) else _shared(column)


def vectors_array(vectors: Vectors, dimension: int) -> pa.FixedSizeListArray:
    """float32 [n, dimension] as an Arrow column, without a copy."""
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1), type=pa.float32()), dimension)


def vectors_matrix(column: pa.Array | pa.ChunkedArray) -> Vectors:
    """An Arrow column of vectors as float32 [n, dimension]."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    values: Vectors = np.asarray(array.flatten(), dtype=np.float32).reshape(len(array), array.type.list_size)
    return values


def literals(values: Collection[str]) -> str:
    """``values`` as escaped SQL literals of an IN list."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def is_filing(filing_id: str) -> str:
    """SQL condition for the rows of a filing."""
    return f"filing_id = {literals([filing_id])}"


def is_revision(filing_id: str, revision: str) -> str:
    """SQL condition for the rows of one revision of a filing."""
    return f"({is_filing(filing_id)} AND revision = {literals([revision])})"


def is_source(source_uri: str) -> str:
    """SQL condition for the row of a file in ``sources`` or ``failures``."""
    return f"source_uri = {literals([source_uri])}"


def on_pages(pages: Collection[tuple[str, int]]) -> str | None:
    """SQL condition for the rows of the given (filing_id, page); None if there are none."""
    numbers: dict[str, list[str]] = {}
    for filing_id, page in pages:
        numbers.setdefault(filing_id, []).append(str(int(page)))
    clauses = [f"({is_filing(filing_id)} AND page IN ({', '.join(n)}))" for filing_id, n in numbers.items()]
    return f"({' OR '.join(clauses)})" if clauses else None


def tables_on(pages: Collection[tuple[str, int]]) -> str | None:
    """SQL condition for the tables that have rows on the given (filing_id, page); None if there are none."""
    clauses = [
        f"({is_filing(filing_id)} AND page <= {int(page)} AND last_page >= {int(page)})" for filing_id, page in pages
    ]
    return f"({' OR '.join(clauses)})" if clauses else None


def any_of(clauses: Sequence[str]) -> Iterator[str]:
    """``clauses`` joined by OR, split into conditions that are short enough for Lance's parser."""
    for start in range(0, len(clauses), _CLAUSES_AT_ONCE):
        yield " OR ".join(clauses[start : start + _CLAUSES_AT_ONCE])

"""A bundle is all that the index stores about a filing. It moves between processes and is committed as a whole."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from finray.core.filing import Chunk, Filing, LineItem, Page, ParsedFiling
from finray.core.settings import ChunkSettings
from finray.core.tables import Table
from finray.filings.cover.summary import cover_summary
from finray.filings.pages.chunks import chunk_page
from finray.index import schema
from finray.models.encoder import Vectors

_LENGTHS = struct.Struct("<5Q")
_SURROGATE = re.compile("[\ud800-\udfff]")
_COVER = schema.table_schemas(1)[schema.FILINGS]


@dataclass(frozen=True, slots=True)
class FilingBundle:
    """A filing with its rows of ``pages``, ``chunks``, ``tables`` and ``facts`` in the columns of those tables.

    ``vector`` (of ``summary``, float32 [d]) is None and the tables have no vectors until ``with_vectors``.
    """

    filing: Filing
    summary: str
    pages: pa.Table
    chunks: pa.Table
    tables: pa.Table
    facts: pa.Table
    vector: Vectors | None = None

    @property
    def revision(self) -> str:
        return _revision(self.filing)


def make_bundle(parsed: ParsedFiling, settings: ChunkSettings) -> FilingBundle:
    """Cut the pages into chunks and lay everything out as rows."""
    filing = parsed.filing
    pages = [replace(page, text=_encodable(page.text), headings=_encodable(page.headings)) for page in parsed.pages]
    chunks = [chunk for page in pages for chunk in chunk_page(page, settings)]

    def rows(table: str, records: Sequence[Page | Chunk | Table | LineItem]) -> pa.Table:
        return schema.child_rows(table, filing.filing_id, _revision(filing), records)

    return FilingBundle(
        filing=filing,
        summary=_encodable(cover_summary(filing, next((page.text for page in pages if page.text.strip()), ""))),
        pages=rows(schema.PAGES, pages),
        chunks=rows(schema.CHUNKS, chunks),
        tables=rows(schema.TABLES, parsed.tables),
        facts=rows(schema.FACTS, parsed.line_items),
    )


def _revision(filing: Filing) -> str:
    """The part of a revision that identifies the content."""
    return filing.content_sha256[:20]


def texts_to_encode(bundle: FilingBundle) -> list[str]:
    """The summary, then the chunks."""
    return [bundle.summary, *bundle.chunks["text"].to_pylist()]


def with_vectors(bundle: FilingBundle, vectors: Vectors) -> FilingBundle:
    """The bundle with the vectors of ``texts_to_encode``, float32 [n, d], and those of its pages."""
    dimension = vectors.shape[1]
    chunk_vectors = vectors[1:]
    pages = page_vectors(bundle.pages["page"].to_numpy(), bundle.chunks["page"].to_numpy(), chunk_vectors, dimension)
    return replace(
        bundle,
        vector=vectors[0],
        pages=bundle.pages.append_column("vector", schema.vectors_array(pages, dimension)),
        chunks=bundle.chunks.append_column("vector", schema.vectors_array(chunk_vectors, dimension)),
    )


def page_vectors(pages: np.ndarray, chunk_pages: np.ndarray, chunk_vectors: Vectors, dimension: int) -> Vectors:
    """float32 [len(pages), dimension]: the mean of each page's chunk vectors, scaled to unit length; zero without
    chunks. ``pages`` ascend, ``chunk_pages`` [n] is the page of each chunk."""
    sums = np.zeros((len(pages), dimension), dtype=np.float32)
    np.add.at(sums, np.searchsorted(pages, chunk_pages), chunk_vectors)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    result: Vectors = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return result


def to_bytes(bundle: FilingBundle) -> bytes:
    """The bundle as five Arrow IPC streams, after their lengths."""
    columns = schema.filing_row(bundle.filing) | {"summary": bundle.summary}
    cover = pa.table({name: pa.array([value], _COVER.field(name).type) for name, value in columns.items()})
    if bundle.vector is not None:
        cover = cover.append_column("vector", schema.vectors_array(bundle.vector, len(bundle.vector)))
    streams = [_stream(table) for table in (cover, bundle.pages, bundle.chunks, bundle.tables, bundle.facts)]
    return b"".join((_LENGTHS.pack(*(len(stream) for stream in streams)), *streams))


def from_bytes(content: bytes) -> FilingBundle:
    """The bundle that ``to_bytes`` wrote; its tables refer to ``content``."""
    view = memoryview(content)
    start = _LENGTHS.size
    streams = []
    for length in _LENGTHS.unpack(view[:start]):
        streams.append(pa.ipc.open_stream(pa.py_buffer(view[start : start + length])).read_all())
        start += length
    cover, pages, chunks, tables, facts = streams
    vector = schema.vectors_matrix(cover["vector"])[0] if "vector" in cover.column_names else None
    filing, summary = schema.filings_from_table(cover)[0], cover["summary"][0].as_py()
    return FilingBundle(filing, summary, pages, chunks, tables, facts, vector)


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _encodable(text: str) -> str:
    """``text`` with unpaired surrogates, which UTF-8 cannot encode, replaced one for one."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

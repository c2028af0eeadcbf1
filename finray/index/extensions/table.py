"""A complete extension, open for reading."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from finray.core.errors import IndexMismatchError
from finray.index import schema
from finray.index.extensions.extension import PLACES, AnyExtension, FilingExtension
from finray.index.extensions.set_aside import noted_failed
from finray.index.extensions.store import (
    failed_location,
    file_location,
    is_recorded,
    stored_rows,
)
from finray.index.reading.reader import IndexReader
from finray.index.tables.hits import committed_rows, text_hits, vector_hits
from finray.index.tables.search_indexes import WORDS
from finray.models.encoder import Vectors
from finray.storage.locations import read_bytes


class ExtensionTable:
    """The rows of a complete extension that belong to an open index. ``table`` is None if it has none."""

    def __init__(self, table: Any, place: Sequence[str], revisions: Mapping[str, str], *, stale: bool) -> None:
        self._table = table
        self._place = ("filing_id", *place)
        self._revisions = revisions
        self._stale = stale

    def rows(self, columns: Sequence[str], filing_ids: Collection[str] | None = None) -> pa.Table:
        """Place and ``columns`` of every row, or of those of some filings, ordered by place."""
        if self._has_none(filing_ids):
            return self._empty(columns)
        return self._read(columns, self._where(filing_ids))

    def search_vector(self, vector: Vectors, filing_ids: Collection[str] | None, limit: int) -> pa.Table:
        """Exact cosine search over the column ``vector``: place and score, best first."""
        if self._has_none(filing_ids) or limit < 1:
            return self._empty(["score"])
        return vector_hits(self._table, self._place, vector, self._where(filing_ids), limit)

    def search_text(self, query: str, filing_ids: Collection[str] | None, limit: int) -> pa.Table:
        """BM25 over the column ``text``: place and score, best first."""
        if self._has_none(filing_ids) or limit < 1:
            return self._empty(["score"])
        return text_hits(self._table, self._place, query, self._where(filing_ids), limit)

    def rows_of_pages(self, pages: Collection[tuple[str, int]], columns: Sequence[str]) -> pa.Table:
        """Place and ``columns`` of the rows of the given (filing_id, page), ordered by place."""
        where = schema.on_pages(pages)
        if self._table is None or where is None:
            return self._empty(columns)
        committed = self._where({filing_id for filing_id, _ in pages}) if self._stale else None
        return self._read(columns, f"{where} AND {committed}" if committed else where)

    def _has_none(self, filing_ids: Collection[str] | None) -> bool:
        return self._table is None or (filing_ids is not None and not filing_ids)

    def _empty(self, columns: Sequence[str]) -> pa.Table:
        return pa.table({name: [] for name in (*self._place, *columns)})

    def _read(self, columns: Sequence[str], where: str | None) -> pa.Table:
        table = self._table.to_table(columns=[*self._place, *columns], filter=where)
        return table.sort_by([(name, "ascending") for name in self._place])

    def _where(self, filing_ids: Collection[str] | None) -> str | None:
        return committed_rows(self._revisions, filing_ids, stale=self._stale)


def extension_file(reader: IndexReader, extension: FilingExtension, name: str) -> bytes:
    """One of the ``files`` of a complete extension."""
    return read_bytes(file_location(reader.uri, extension, name))


def open_extension(reader: IndexReader, extension: AnyExtension) -> ExtensionTable:
    """The extension of the index that ``reader`` has open.

    Raises IndexMismatchError with the command to run if there is none, it was made with another model, or it lacks
    filings.
    """
    command = f"finray extend --index {reader.uri} --with {extension.made_for}"
    if not is_recorded(reader.uri, extension):
        raise IndexMismatchError(
            f"the index at {reader.uri!r} has no {extension.name!r} {extension.things}, which retrieval.method = "
            f"{extension.made_for!r} needs; make them with: {command}"
        )
    table, stored, expected = stored_rows(reader, extension)
    failed = noted_failed(failed_location(reader.uri, extension))
    expected = {key: rows for key, rows in expected.items() if key not in failed}
    absent = [key for key, rows in expected.items() if stored[key] != rows]
    if extension.words and table is not None and not any(index.name == WORDS for index in table.describe_indices()):
        absent = list(expected)  # killed before the last step
    if absent:
        raise IndexMismatchError(
            f"the {extension.name!r} {extension.things} of the index at {reader.uri!r} lack {len(absent)} of "
            f"{len(expected)} filings; add them with: {command}"
        )
    stale = stored.total() != sum(expected.values())
    return ExtensionTable(table, PLACES[extension.rows], reader.revisions, stale=stale)

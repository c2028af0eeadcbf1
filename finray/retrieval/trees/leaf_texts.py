"""Reads the texts of leaves from the index."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from finray.index.reading.reader import IndexReader

Leaf = tuple[str, int, int]
"""(filing id, page, start)"""
_COLUMNS = ("filing_id", "page", "start", "end", "text")


class LeafTexts:
    """Leaves are whole pages (``start`` is 0), or chunks."""

    def __init__(self, reader: IndexReader, *, whole_pages: bool) -> None:
        self._reader = reader
        self._whole_pages = whole_pages

    def texts(self, leaves: Sequence[Leaf]) -> list[str]:
        """The text of each leaf, in the given order."""
        found = self._spans(leaves)
        return [found[leaf][1] for leaf in leaves]

    def table(self, leaves: Sequence[Leaf], scores: Sequence[float]) -> pa.Table:
        """Rows for ``chunk_passages``, in the given order."""
        found = self._spans(leaves)
        rows = [(*leaf, *found[leaf], score) for leaf, score in zip(leaves, scores, strict=True)]
        return pa.table({name: [row[at] for row in rows] for at, name in enumerate((*_COLUMNS, "score"))})

    def _spans(self, leaves: Sequence[Leaf]) -> dict[Leaf, tuple[int, str]]:
        """End and text of each leaf."""
        pages = {leaf[:2] for leaf in leaves}
        if self._whole_pages:
            texts = self._reader.page_texts(pages)
            return {(*page, 0): (len(text), text) for page, text in texts.items()}
        rows = self._reader.chunks_of_pages(pages, list(_COLUMNS)).to_pylist()
        return {(row["filing_id"], row["page"], row["start"]): (row["end"], row["text"]) for row in rows}

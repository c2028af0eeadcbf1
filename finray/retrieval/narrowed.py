"""Retrieval from a part of the index: the filings that pass a filter."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from finray.core.filing_filter import FilingFilter
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.roles import DocumentRetriever
from finray.core.types import Document
from finray.index.reader import IndexReader


class NarrowedDocuments:
    """The best ``k`` documents of ``inner`` that pass ``narrowed``."""

    def __init__(self, inner: DocumentRetriever, reader: IndexReader, narrowed: FilingFilter) -> None:
        self._inner = inner
        self._narrowed = narrowed
        self._filings = len(reader.revisions)

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        # A separate journal: notes about filings that do not pass would only confuse.
        proposed = await self._inner.documents(query, self._filings, Journal())
        passes = self._narrowed.test()
        chosen = list(itertools.islice((document for document in proposed if passes(document.filing)), k))
        for rank, document in enumerate(chosen, start=1):
            journal.note(
                f"document {rank}: {document.filing.doc_name} {document.score:.3f}: {', '.join(document.reasons)}"
            )
        return chosen

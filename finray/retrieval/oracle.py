"""Upper bounds for evaluation: retrieval of the gold filings or the gold pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.types import Document, GoldEvidence, Passage
from finray.index.reader import IndexReader
from finray.retrieval.flat import chunk_passages


class GoldDocuments:
    """The filings of the gold evidence, whatever the query."""

    def __init__(self, reader: IndexReader, evidence: Sequence[GoldEvidence]) -> None:
        names = {gold.doc_name for gold in evidence}
        self._documents = tuple(Document(f, 1.0, ("gold",)) for f in reader.filings() if f.doc_name in names)

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        return self._documents


class GoldPages:
    """Every chunk of the gold pages, in reading order."""

    def __init__(self, reader: IndexReader, evidence: Sequence[GoldEvidence]) -> None:
        self._reader = reader
        self._pages = {(gold.doc_name, gold.page) for gold in evidence}

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        names = {document.filing.filing_id: document.filing.doc_name for document in documents}
        if not names:
            return ()
        chunks = self._reader.chunks(list(names), ["filing_id", "page", "start", "end", "text"])
        passages = chunk_passages(chunks.append_column("score", pa.array(np.ones(len(chunks)))), names)
        return [passage for passage in passages if (passage.doc_name, passage.page) in self._pages]

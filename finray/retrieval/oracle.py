"""Upper bounds for evaluation: retrieval of the gold filings or the gold pages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.questions import GoldEvidence
from finray.core.roles import PassageRetriever
from finray.index.reading.reader import IndexReader
from finray.retrieval.flat import chunk_passages


class GoldDocuments:
    """The filings of the gold evidence, by name or id, whatever the query."""

    def __init__(self, reader: IndexReader, evidence: Sequence[GoldEvidence]) -> None:
        names = {gold.doc_name for gold in evidence}
        self._documents = tuple(
            Document(f, 1.0, ("gold",)) for f in reader.filings() if not names.isdisjoint((f.doc_name, f.filing_id))
        )

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        return self._documents


class GoldPages:
    """The chunks of the gold pages as ``inner`` ranks them (arXiv 2602.17981, section 3.3), then those that it does not
    find, in reading order. A filing whose gold page is unknown has none."""

    def __init__(self, reader: IndexReader, evidence: Sequence[GoldEvidence], inner: PassageRetriever) -> None:
        self._reader = reader
        self._pages = {(gold.doc_name, gold.page) for gold in evidence}
        self._inner = inner

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        names = {document.filing.filing_id: document.filing.doc_name for document in documents}
        if not names:
            return ()
        counts = self._reader.row_counts("chunks")
        everything = sum(counts[filing_id] for filing_id in names)
        found = await self._inner.passages(query, documents, everything, journal)
        ranked = [passage for passage in found if self._has(passage)]
        chunks = self._reader.chunks(list(names), ["filing_id", "page", "start", "end", "text"])
        rest = [
            passage
            for passage in chunk_passages(chunks.append_column("score", pa.array(np.zeros(len(chunks)))), names)
            if self._has(passage) and not any(_holds(other, passage) for other in ranked)
        ]
        return [*ranked, *rest][:k]

    def _has(self, passage: Passage) -> bool:
        return not self._pages.isdisjoint(((passage.doc_name, passage.page), (passage.filing_id, passage.page)))


def _holds(whole: Passage, part: Passage) -> bool:
    same = (whole.filing_id, whole.page) == (part.filing_id, part.page)
    return same and whole.start <= part.start and part.end <= whole.end

"""``bm25``: words alone. Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).

Lance's full-text index scores chunks with k1 = 1.2 and b = 0.75, English stems and no stop words.
"""

from __future__ import annotations

from collections.abc import Sequence

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.types import Document, Passage
from finray.index.reader import IndexReader
from finray.retrieval.flat import AllDocuments, chunk_passages, doc_names, scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


class LexicalPassages:
    """The chunks with the highest BM25 score for the question as asked."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._names = doc_names(reader)

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        hits = self._reader.search_chunks_text(query.question, scope(documents), k, texts=True)
        return chunk_passages(hits, self._names)


def build(tools: Toolbox) -> Retrieval:
    return Retrieval(AllDocuments(tools.reader), LexicalPassages(tools.reader))

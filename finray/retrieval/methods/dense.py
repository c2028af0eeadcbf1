"""``dense``: cosine of question and chunk. Karpukhin et al., "Dense Passage Retrieval for Open-Domain Question
Answering" (EMNLP 2020), with the encoder of the index."""

from __future__ import annotations

from collections.abc import Sequence

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.types import Document, Passage
from finray.index.reader import IndexReader
from finray.models.encoder import Encoder
from finray.retrieval.flat import AllDocuments, chunk_passages, doc_names, scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


class DensePassages:
    """The chunks nearest to the question as asked."""

    def __init__(self, reader: IndexReader, encoder: Encoder) -> None:
        self._reader = reader
        self._encoder = encoder
        self._names = doc_names(reader)

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        vector = self._encoder.encode_query(query.question)
        hits = self._reader.search_chunks_vector(vector, scope(documents), k, texts=True)
        return chunk_passages(hits, self._names)


def build(tools: Toolbox) -> Retrieval:
    return Retrieval(AllDocuments(tools.reader), DensePassages(tools.reader, tools.encoder))

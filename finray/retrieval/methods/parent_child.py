"""``parent_child``: searches small pieces and returns what they belong to (LangChain's "parent document retriever",
LlamaIndex's "small-to-big"). Here the children are chunks and the parents whole pages."""

from __future__ import annotations

from collections.abc import Sequence

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.types import Document, Passage
from finray.index.reader import IndexReader
from finray.models.encoder import Encoder
from finray.retrieval.flat import AllDocuments, doc_names, scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


class ParentPassages:
    """The pages of the nearest chunks, each once, in the order and with the score of its best chunk."""

    def __init__(self, reader: IndexReader, encoder: Encoder, children: int) -> None:
        self._reader = reader
        self._encoder = encoder
        self._children = children
        self._names = doc_names(reader)

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        vector = self._encoder.encode_query(query.question)
        hits = self._reader.search_chunks_vector(vector, scope(documents), max(k, self._children))
        parents: dict[tuple[str, int], float] = {}
        for row in hits.to_pylist():
            parents.setdefault((row["filing_id"], row["page"]), row["score"])
        best = list(parents)[:k]
        texts = self._reader.page_texts(best)
        return [
            Passage(
                self._names[filing_id], filing_id, page, 0, len(texts[filing_id, page]), texts[filing_id, page], score
            )
            for (filing_id, page), score in ((place, parents[place]) for place in best)
        ]


def build(tools: Toolbox) -> Retrieval:
    children = tools.settings.methods.parent_child.children
    return Retrieval(AllDocuments(tools.reader), ParentPassages(tools.reader, tools.encoder, children))

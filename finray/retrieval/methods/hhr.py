"""``hhr``: hybrid retrieval of documents, then hybrid retrieval of passages inside them.

Arivazhagan et al., "Hybrid Hierarchical Retrieval for Open-Domain Question Answering" (Findings of ACL 2023). The paper
embeds a document's title, abstract and outline; here the cover summary is embedded. Its lexical score is BM25 over the
document's text; here it is that of the best page, because the index has no longer text. Reciprocal rank fusion joins
the two rankings at both levels. The paper trains its dense retrievers; here the index's encoder serves.
"""

from __future__ import annotations

from collections.abc import Sequence

from finray.core.journal import Journal
from finray.core.method_settings import HhrParameters
from finray.core.passages import Document
from finray.core.query import Query
from finray.index.reading.reader import IndexReader
from finray.models.encoder import Encoder, query_vector
from finray.retrieval.fusion import fuse
from finray.retrieval.methods.rrf import fused_passages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


class HybridDocuments:
    """Filings by cover-summary vector and by their best page's BM25 score, fused."""

    def __init__(self, reader: IndexReader, encoder: Encoder, chosen: HhrParameters) -> None:
        self._reader = reader
        self._encoder = encoder
        self._chosen = chosen
        self._filings = reader.filings().by_id

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        limit = self._chosen.candidates
        vector = await query_vector(self._encoder, query.question)
        nearest = self._reader.search_covers_vector(vector, limit)
        dense = nearest["filing_id"].to_pylist()
        pages = self._reader.search_pages_text(query.question, None, self._chosen.page_hits)
        lexical = list(dict.fromkeys(pages["filing_id"].to_pylist()))[:limit]
        fused = fuse((dense, lexical), self._chosen.constant)[:k]
        chosen = [Document(self._filings[filing_id], score, ("summary and text",)) for filing_id, score in fused]
        journal.note("documents: " + ", ".join(f"{d.filing.doc_name} {d.score:.4f}" for d in chosen))
        return chosen


def build(tools: Toolbox) -> Retrieval:
    chosen = tools.settings.methods.hhr
    return Retrieval(HybridDocuments(tools.reader, tools.encoder, chosen), fused_passages(tools, chosen))

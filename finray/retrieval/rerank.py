"""Cross-encoders: order the nearest chunks (``hirec``, ``dense_rerank``), or fuse with another method's order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.roles import PassageRetriever
from finray.core.types import Document, Passage
from finray.index.reader import IndexReader
from finray.models.encoder import Encoder
from finray.models.reranker import Reranker
from finray.retrieval.flat import chunk_passages, doc_names, scope
from finray.retrieval.fusion import fuse

_FUSION_CONSTANT = 60


class RerankedPassages:
    """The ``candidates`` chunks nearest to ``text_of(query)``, ordered by ``reranker``.

    Nogueira and Cho, "Passage Re-ranking with BERT" (arXiv 1901.04085).
    """

    def __init__(
        self,
        reader: IndexReader,
        encoder: Encoder,
        reranker: Reranker,
        candidates: int,
        text_of: Callable[[Query], str],
    ) -> None:
        self._reader = reader
        self._encoder = encoder
        self._reranker = reranker
        self._candidates = candidates
        self._text_of = text_of
        self._names = doc_names(reader)

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        text = self._text_of(query)
        vector = self._encoder.encode_query(text)
        limit = max(k, self._candidates)
        hits = self._reader.search_chunks_vector(vector, scope(documents), limit, texts=True)
        nearest = chunk_passages(hits, self._names)
        scores = self._reranker.scores(text, [passage.text for passage in nearest])
        rescored = [replace(p, score=float(score)) for p, score in zip(nearest, scores, strict=True)]
        # The sort is stable: equal scores keep their dense order.
        return sorted(rescored, key=lambda passage: -passage.score)[:k]


class FusedReranking:
    """The first ``candidates`` passages of ``inner``, ordered by its ranks and the reranker's (reciprocal rank fusion,
    k = 60). Scores stay those of ``inner``; passages after the candidates stay after them."""

    def __init__(self, inner: PassageRetriever, reranker: Reranker, candidates: int) -> None:
        self._inner = inner
        self._reranker = reranker
        self._candidates = candidates

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        found = await self._inner.passages(query, documents, max(k, self._candidates), journal)
        head = found[: self._candidates]
        scores = self._reranker.scores(query.text, [passage.text for passage in head])
        order = sorted(range(len(head)), key=lambda place: -float(scores[place]))
        fused = [head[place] for place, _ in fuse([range(len(head)), order], _FUSION_CONSTANT)]
        return [*fused, *found[self._candidates :]][:k]

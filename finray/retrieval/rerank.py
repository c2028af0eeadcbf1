"""Cross-encoders: order the nearest chunks (``hirec``, ``dense_rerank``) or the passages of another method, or fuse
with its order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.roles import PassageRetriever
from finray.index.reading.reader import IndexReader
from finray.models.encoder import Encoder, query_vector
from finray.models.reranker import Reranker, pair_scores
from finray.retrieval.flat import FoundPassages, Scope
from finray.retrieval.fusion import fuse

_FUSION_CONSTANT = 60


def reranked_passages(
    reader: IndexReader, encoder: Encoder, reranker: Reranker, candidates: int, text_of: Callable[[Query], str]
) -> FoundPassages:
    """The ``candidates`` chunks nearest to ``text_of(query)``, ordered by ``reranker``.

    Nogueira and Cho, "Passage Re-ranking with BERT" (arXiv 1901.04085).
    """

    async def find(query: Query, within: Scope, k: int, _: Journal) -> pa.Table:
        text = text_of(query)
        vector = await query_vector(encoder, text)
        nearest = reader.search_chunks_vector(vector, within, max(k, candidates), texts=True)
        scores = await pair_scores(reranker, text, nearest["text"].to_pylist())
        order = np.argsort(-scores, kind="stable")[:k]  # equal scores keep their dense order
        return nearest.drop_columns(["score"]).take(pa.array(order)).append_column("score", pa.array(scores[order]))

    return FoundPassages(reader, find)


class RerankedPassages:
    """The first ``candidates`` passages of ``inner`` (at least as many as asked for), ordered by ``reranker`` for the
    question as asked. ``titles`` (filing id -> text before each passage) are read by the reranker too."""

    def __init__(
        self, inner: PassageRetriever, reranker: Reranker, candidates: int, titles: Mapping[str, str] | None = None
    ) -> None:
        self._inner = inner
        self._reranker = reranker
        self._candidates = candidates
        self._titles = titles or {}

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        found = await self._inner.passages(query, documents, max(k, self._candidates), journal)
        texts = [self._titles.get(passage.filing_id, "") + passage.text for passage in found]
        scores = await pair_scores(self._reranker, query.question, texts)
        order = np.argsort(-scores, kind="stable")[:k]  # equal scores keep their order
        return [replace(found[at], score=float(scores[at])) for at in order]


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
        scores = await pair_scores(self._reranker, query.text, [passage.text for passage in head])
        order = sorted(range(len(head)), key=lambda place: -float(scores[place]))
        fused = [head[place] for place, _ in fuse([range(len(head)), order], _FUSION_CONSTANT)]
        return [*fused, *found[self._candidates :]][:k]

"""Cross-encoders over the passages of another method: their order replaces its order, or is fused with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.roles import PassageRetriever
from finray.models.reranker import Reranker, pair_scores
from finray.retrieval.fusion import fuse

_FUSION_CONSTANT = 60


class RerankedPassages:
    """The first ``candidates`` passages of ``inner``, at least ``k``, ordered by ``reranker`` for ``query.question``.

    The reranker reads each passage after its filing's title, if ``titles`` (filing id -> title) has one.
    """

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
    """The first ``candidates`` passages of ``inner``, in the fused order of ``inner`` and the reranker (reciprocal rank
    fusion, k = 60). Scores stay those of ``inner``; passages after the candidates stay after them."""

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
        order = sorted(range(len(head)), key=lambda at: -float(scores[at]))
        fused = [head[at] for at, _ in fuse([range(len(head)), order], _FUSION_CONSTANT)]
        return [*fused, *found[self._candidates :]][:k]

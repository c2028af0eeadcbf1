"""``hybrid_search``: BM25 scores and cosines of the chunks, each scaled to [0, 1], in a weighted sum.

Wang, "FinanceRAG with Hybrid Search and Reranking" (2024), the baseline "HybridSearch" of HiREC (arXiv 2505.20368,
appendix C.2: "combines BM25-based scores with dense scores"). Neither paper prints the weight; 0.7 for the dense score
is the default of LanceDB's hybrid search, on which the baseline was run. ``methods.hybrid_search.rerank`` adds the
reranking of Wang's title, with ``passage_reranker``. 10 passages (``retrieval.k_passages``) go to the answerer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.roles import PassageRetriever
from finray.models.reranker import Reranker, pair_scores
from finray.retrieval.fusion import place
from finray.retrieval.methods.bm25 import lexical_passages
from finray.retrieval.methods.dense import dense_passages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


class WeightedPassages:
    """``weight`` times the scaled score of ``dense`` and the rest times that of ``lexical``; a passage that one of them
    lacks has 0 there. ``reranker`` reorders the union."""

    def __init__(
        self,
        dense: PassageRetriever,
        lexical: PassageRetriever,
        weight: float,
        candidates: int,
        reranker: Reranker | None,
    ) -> None:
        self._parts = ((dense, weight), (lexical, 1.0 - weight))
        self._candidates = candidates
        self._reranker = reranker

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        scores: dict[tuple[str, int, int], float] = {}
        found: dict[tuple[str, int, int], Passage] = {}
        for retriever, weight in self._parts:
            ranked = await retriever.passages(query, documents, max(k, self._candidates), journal)
            for passage, scaled in zip(ranked, scaled_to_one([p.score for p in ranked]), strict=True):
                found.setdefault(place(passage), passage)
                scores[place(passage)] = scores.get(place(passage), 0.0) + weight * scaled
        union = [replace(found[at], score=score) for at, score in scores.items()]
        if self._reranker is not None:
            judged = await pair_scores(self._reranker, query.question, [passage.text for passage in union])
            union = [replace(passage, score=score) for passage, score in zip(union, judged.tolist(), strict=True)]
        return sorted(union, key=lambda passage: -passage.score)[:k]


def scaled_to_one(scores: Sequence[float]) -> list[float]:
    """``scores`` scaled to [0, 1], the best 1 and the worst 0; equal ones are all 1."""
    if not scores:
        return []
    values = np.asarray(scores, dtype=np.float64)
    span = values.max() - values.min()
    return [1.0] * len(scores) if span <= 0 else ((values - values.min()) / span).tolist()


def build(tools: Toolbox) -> Retrieval:
    chosen = tools.settings.methods.hybrid_search
    dense, lexical = dense_passages(tools), lexical_passages(tools.reader, titled=tools.titled)
    reranker = tools.reranker("passage_reranker") if chosen.rerank else None
    return tools.flat(WeightedPassages(dense, lexical, chosen.weight, chosen.candidates, reranker))

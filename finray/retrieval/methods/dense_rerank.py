"""``dense_rerank``: the 100 nearest chunks, ordered by a cross-encoder (Nogueira and Cho, "Passage Re-ranking with
BERT", arXiv 1901.04085)."""

from __future__ import annotations

from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.rerank import reranked_passages


def build(tools: Toolbox) -> Retrieval:
    candidates = tools.settings.methods.dense_rerank.candidates
    passages = reranked_passages(
        tools.reader, tools.encoder, tools.reranker("passage_reranker"), candidates, lambda query: query.question
    )
    return tools.flat(passages)

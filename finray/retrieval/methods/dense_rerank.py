"""``dense_rerank``: the 100 nearest chunks, ordered by a cross-encoder (Nogueira and Cho, "Passage Re-ranking with
BERT", arXiv 1901.04085)."""

from __future__ import annotations

from finray.retrieval.methods.dense import dense_passages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.rerank import RerankedPassages


def build(tools: Toolbox) -> Retrieval:
    candidates = tools.settings.methods.dense_rerank.candidates
    return tools.flat(RerankedPassages(dense_passages(tools), tools.reranker("passage_reranker"), candidates))

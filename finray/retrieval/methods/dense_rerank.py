"""``dense_rerank``: the 100 nearest chunks, ordered by a cross-encoder (Nogueira and Cho, "Passage Re-ranking with
BERT", arXiv 1901.04085)."""

from __future__ import annotations

from finray.retrieval.flat import AllDocuments
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.rerank import RerankedPassages


def build(tools: Toolbox) -> Retrieval:
    candidates = tools.settings.methods.dense_rerank.candidates
    passages = RerankedPassages(
        tools.reader, tools.encoder, tools.passage_reranker(), candidates, lambda query: query.question
    )
    return Retrieval(AllDocuments(tools.reader), passages)

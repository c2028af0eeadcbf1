"""``rrf``: BM25 and dense rankings of the chunks joined by reciprocal rank fusion with k = 60 (Cormack, Clarke and
Büttcher, SIGIR 2009)."""

from __future__ import annotations

from finray.core.roles import PassageRetriever
from finray.retrieval.flat import AllDocuments
from finray.retrieval.fusion import FusedPassages
from finray.retrieval.methods.bm25 import LexicalPassages
from finray.retrieval.methods.dense import DensePassages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


def build(tools: Toolbox) -> Retrieval:
    chosen = tools.settings.methods.rrf
    retrievers: list[PassageRetriever] = [LexicalPassages(tools.reader), DensePassages(tools.reader, tools.encoder)]
    return Retrieval(AllDocuments(tools.reader), FusedPassages(retrievers, chosen.candidates, chosen.constant))

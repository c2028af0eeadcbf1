"""``rrf``: BM25 and dense rankings of the chunks joined by reciprocal rank fusion with k = 60 (Cormack, Clarke and
Büttcher, SIGIR 2009)."""

from __future__ import annotations

from finray.core.method_settings import RrfParameters
from finray.retrieval.fusion import FusedPassages
from finray.retrieval.methods.bm25 import lexical_passages
from finray.retrieval.methods.dense import dense_passages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox


def fused_passages(tools: Toolbox, chosen: RrfParameters) -> FusedPassages:
    retrievers = (lexical_passages(tools.reader, titled=tools.titled), dense_passages(tools))
    return FusedPassages(retrievers, chosen.candidates, chosen.constant)


def build(tools: Toolbox) -> Retrieval:
    return tools.flat(fused_passages(tools, tools.settings.methods.rrf))

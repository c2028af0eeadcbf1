"""``finray``: this project's own method. Filings by their cover facts, then pages by their text and place."""

from __future__ import annotations

from finray.core.roles import PassageRetriever
from finray.retrieval.documents import StructuredDocuments
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.page_model import load_page_model
from finray.retrieval.passages import PagePassages
from finray.retrieval.rerank import FusedReranking


def build(tools: Toolbox) -> Retrieval:
    model = load_page_model(tools.settings.retrieval.page_model, tools.settings.encoder.model)
    room = tools.settings.index.cache_bytes // 2  # the other half is for line items
    pages: PassageRetriever = PagePassages(tools.reader, tools.encoder, model, room * 3 // 4)
    if reranked := tools.settings.retrieval.reranked_pages:
        pages = FusedReranking(pages, tools.reranker("passage_reranker"), reranked)
    return Retrieval(StructuredDocuments(tools.reader, tools.encoder, tools.catalog, room // 4), pages)

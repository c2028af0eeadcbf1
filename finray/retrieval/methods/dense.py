"""``dense``: cosine of question and chunk. Karpukhin et al., "Dense Passage Retrieval for Open-Domain Question
Answering" (EMNLP 2020), with the encoder of the index."""

from __future__ import annotations

import pyarrow as pa

from finray.core.journal import Journal
from finray.core.query import Query
from finray.index.extensions.table import open_extension
from finray.retrieval.flat import FoundPassages, Scope
from finray.retrieval.methods.titles import title_vectors
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import search_vector


def dense_passages(tools: Toolbox) -> FoundPassages:
    """The nearest chunks; if ``tools.titled``, by vectors of their text with the filing's title before it."""
    reader, encoder = tools.reader, tools.encoder
    titles = open_extension(reader, title_vectors(tools.settings)) if tools.titled else None

    async def find(query: Query, within: Scope, k: int, _: Journal) -> pa.Table:
        vector = await search_vector(query, encoder)
        if titles is None:
            return reader.search_chunks_vector(vector, within, k, texts=True)
        return reader.with_texts(titles.search_vector(vector, within, k))

    return FoundPassages(reader, find)


def build(tools: Toolbox) -> Retrieval:
    return tools.flat(dense_passages(tools))

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
    """The nearest chunks; with ``tools.titled`` each was encoded with its filing's title before it."""
    reader, encoder = tools.reader, tools.encoder
    if not tools.titled:

        async def find(query: Query, within: Scope, k: int, _: Journal) -> pa.Table:
            return reader.search_chunks_vector(await search_vector(query, encoder), within, k, texts=True)

        return FoundPassages(reader, find)
    stored = open_extension(reader, title_vectors(tools.settings))

    async def find_titled(query: Query, within: Scope, k: int, _: Journal) -> pa.Table:
        return reader.with_texts(stored.search_vector(await search_vector(query, encoder), within, k))

    return FoundPassages(reader, find_titled)


def build(tools: Toolbox) -> Retrieval:
    return tools.flat(dense_passages(tools))

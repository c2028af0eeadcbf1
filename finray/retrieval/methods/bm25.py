"""``bm25``: words alone. Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).

Lance's full-text index scores chunks with k1 = 1.2 and b = 0.75, English stems, stop words left out.
"""

from __future__ import annotations

import pyarrow as pa

from finray.core.journal import Journal
from finray.core.query import Query
from finray.index.extensions.table import open_extension
from finray.index.reading.reader import IndexReader
from finray.retrieval.flat import FoundPassages, Scope
from finray.retrieval.methods.titles import title_words
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import search_text


def lexical_passages(reader: IndexReader, *, titled: bool = False) -> FoundPassages:
    """The chunks with the highest BM25 score; if ``titled``, their filing's title counts as part of their text."""
    titles = open_extension(reader, title_words()) if titled else None

    async def find(query: Query, within: Scope, k: int, _: Journal) -> pa.Table:
        text = search_text(query)
        if titles is None:
            return reader.search_chunks_text(text, within, k, texts=True)
        return reader.with_texts(titles.search_text(text, within, k))

    return FoundPassages(reader, find)


def build(tools: Toolbox) -> Retrieval:
    return tools.flat(lexical_passages(tools.reader, titled=tools.titled))

"""``parent_child``: searches small pieces and returns what they belong to (LangChain's "parent document retriever",
LlamaIndex's "small-to-big"). Here the children are chunks and the parents whole pages."""

from __future__ import annotations

import pyarrow as pa

from finray.core.journal import Journal
from finray.core.query import Query
from finray.retrieval.flat import FoundPassages, Scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.query_writing import search_vector


def build(tools: Toolbox) -> Retrieval:
    children = tools.settings.methods.parent_child.children

    async def find(query: Query, within: Scope, k: int, _: Journal) -> pa.Table:
        """The pages of the nearest chunks, each once, in the order and with the score of its best chunk."""
        vector = await search_vector(query, tools.encoder)
        hits = tools.reader.search_chunks_vector(vector, within, max(k, children)).to_pylist()
        scores = {(hit["filing_id"], hit["page"]): hit["score"] for hit in reversed(hits)}
        best = list(dict.fromkeys((hit["filing_id"], hit["page"]) for hit in hits))[:k]
        texts = tools.reader.page_texts(best)
        columns = ("filing_id", "page", "start", "end", "text", "score")
        rows = [(*place, 0, len(texts[place]), texts[place], scores[place]) for place in best]
        return pa.table({name: [row[at] for row in rows] for at, name in enumerate(columns)})

    return tools.flat(FoundPassages(tools.reader, find))

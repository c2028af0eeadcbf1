"""``page_scorer``: the best P = 20 pages by a bi-encoder over whole pages, then the chunks inside them.

Kobeissi and Langlais, "Decomposing Retrieval Failures in RAG for Long-Document Financial Question Answering" (arXiv
2602.17981), fine-tune the bi-encoder on pages of filings; jobs/train_page_scorer.py does that here. The index's own
encoder ranks the chunks of the chosen pages.

``page_encoder.model`` names the scorer; ``finray extend --with page_scorer`` stores its vectors of whole pages. If it
is empty, the index's own page vectors serve. Each of those is the normalized mean of the page's chunk vectors
(finray/index/bundle.py), so no text is cut off at the encoder's limit, but the encoder was not trained on pages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from finray.core.errors import SettingsError
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.settings import Settings
from finray.core.types import Document, Passage
from finray.index.extensions import Encode, Extension, open_extension
from finray.index.reader import IndexReader
from finray.index.schema import vectors_array, vectors_matrix
from finray.models.encoder import Encoder, Vectors, load_encoder
from finray.models.query_cache import QueryCache
from finray.retrieval.flat import AllDocuments, chunk_passages, doc_names, scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

NAME: Final = "page_scorer"
SearchPages = Callable[[Vectors, Collection[str] | None, int], pa.Table]


def extension(settings: Settings) -> Extension:
    """A vector of every page's text, from ``page_encoder``. Raises SettingsError if that names no model."""
    chosen = settings.page_encoder
    if not chosen.model:
        raise SettingsError(
            "page_encoder.model is empty: page_scorer then uses the index's own page vectors and needs no others; "
            "name a model to store its vectors"
        )

    def load() -> Encode:
        model = load_encoder(chosen)
        return lambda texts: {"vector": vectors_array(model.encode_passages(texts), model.dimension)}

    made_with: dict[str, str | int] = chosen.model_dump(include={"model", "max_tokens", "passage_prefix"})
    return Extension(NAME, "pages", made_with, load)


class PageThenChunkPassages:
    """Chunks of the ``pages`` best pages by their own cosine. ``scorer`` encodes questions for ``search_pages``,
    ``encoder`` for the chunks."""

    def __init__(
        self, reader: IndexReader, search_pages: SearchPages, scorer: Encoder, encoder: Encoder, pages: int
    ) -> None:
        self._reader = reader
        self._search_pages = search_pages
        self._scorer = scorer
        self._encoder = encoder
        self._pages = pages
        self._names = doc_names(reader)

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        hits = self._search_pages(self._scorer.encode_query(query.question), scope(documents), self._pages)
        best = list(zip(hits["filing_id"].to_pylist(), hits["page"].to_pylist(), strict=True))
        journal.note("pages: " + ", ".join(f"{self._names[i]} p. {page + 1}" for i, page in best[:5]))
        chunks = self._reader.chunks_of_pages(best)
        if not chunks.num_rows:
            return ()
        scores = vectors_matrix(chunks["vector"]) @ self._encoder.encode_query(query.question)
        order = np.argsort(-scores, kind="stable")[:k]
        ranked = chunks.drop_columns(["vector"]).take(pa.array(order)).append_column("score", pa.array(scores[order]))
        return chunk_passages(ranked, self._names)


def build(tools: Toolbox) -> Retrieval:
    reader, pages = tools.reader, tools.settings.methods.page_scorer.pages
    if not tools.settings.page_encoder.model:
        passages = PageThenChunkPassages(reader, reader.search_pages_vector, tools.encoder, tools.encoder, pages)
    else:
        table = open_extension(reader, extension(tools.settings))
        scorer = QueryCache(load_encoder(tools.settings.page_encoder, threads=1))
        passages = PageThenChunkPassages(reader, table.search_vector, scorer, tools.encoder, pages)
    return Retrieval(AllDocuments(reader), passages)

"""``splade``: learned sparse retrieval. Formal et al. (SIGIR 2021, arXiv 2107.05720); SPLADE-v3, Lassance et al. 2024
(arXiv 2403.06789), is the default model. It turns chunk and question into weights of vocabulary terms; the score is
their dot product. The stored weights are loaded into memory as an inverted index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.settings import Settings
from finray.core.types import Document, Passage
from finray.index.extensions import Encode, Extension, ExtensionTable, open_extension
from finray.index.reader import IndexReader
from finray.models.sparse_encoder import SparseEncoder, SparseVector, load_sparse_encoder
from finray.retrieval.flat import AllDocuments, chunk_passages, doc_names, scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.postings import Postings

NAME: Final = "splade"


def extension(settings: Settings) -> Extension:
    """The sparse vectors of every chunk: ``terms`` and ``weights``."""
    chosen = settings.sparse_encoder

    def load() -> Encode:
        model = load_sparse_encoder(chosen)
        return lambda texts: _columns(model.encode_passages(texts))

    return Extension(NAME, "chunks", {"model": chosen.model, "max_tokens": chosen.max_tokens}, load)


class SparsePassages:
    """The chunks with the highest dot product, except those without a common term."""

    def __init__(self, reader: IndexReader, table: ExtensionTable, encoder: SparseEncoder) -> None:
        self._reader = reader
        self._encoder = encoder
        self._names = doc_names(reader)
        stored = table.rows(["terms", "weights"])
        self._places = stored.select(["filing_id", "page", "start", "end"])
        self._filing_ids = np.asarray(stored["filing_id"].to_pylist(), dtype=object)
        lengths = np.asarray([len(terms) for terms in stored["terms"]], dtype=np.int64)
        self._postings = Postings.of(lengths, _flat(stored["terms"], np.int32), _flat(stored["weights"], np.float32))

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        scores = self._postings.scores(self._encoder.encode_query(query.question))
        wanted = scope(documents)
        if wanted is not None:
            scores = np.where(np.isin(self._filing_ids, list(wanted)), scores, np.float32(0))
        best = np.argsort(-scores, kind="stable")[:k]
        best = best[scores[best] > 0]
        hits = self._places.take(pa.array(best)).append_column("score", pa.array(scores[best]))
        return chunk_passages(self._reader.with_texts(hits), self._names)


def _columns(vectors: Sequence[SparseVector]) -> Mapping[str, pa.Array]:
    return {
        "terms": pa.array([vector.terms for vector in vectors], pa.list_(pa.int32())),
        "weights": pa.array([vector.weights for vector in vectors], pa.list_(pa.float32())),
    }


def _flat(column: pa.ChunkedArray, dtype: type[np.generic]) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *(np.asarray(chunk.flatten(), dtype) for chunk in column.chunks)])


def build(tools: Toolbox) -> Retrieval:
    table = open_extension(tools.reader, extension(tools.settings))
    encoder = load_sparse_encoder(tools.settings.sparse_encoder)
    return Retrieval(AllDocuments(tools.reader), SparsePassages(tools.reader, table, encoder))

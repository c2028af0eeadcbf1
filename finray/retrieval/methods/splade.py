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
from finray.core.settings.hashes import without_default_revisions
from finray.index.extensions.extension import Encode, Extension
from finray.index.extensions.table import open_extension
from finray.models.sparse_encoder import SparseVector, load_sparse_encoder
from finray.retrieval.flat import FoundPassages, Scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.postings import Postings
from finray.retrieval.query_writing import search_text

NAME: Final = "splade"


def extension(settings: Settings) -> Extension:
    """The sparse vectors of every chunk: ``terms`` and ``weights``."""
    chosen = settings.sparse_encoder

    def load() -> Encode:
        model = load_sparse_encoder(chosen)
        return lambda texts: _columns(model.encode_passages(texts))

    made_with: dict[str, str | int] = without_default_revisions(
        {"model": chosen.model, "revision": chosen.revision, "max_tokens": chosen.max_tokens}
    )
    if chosen.max_terms:
        made_with["max_terms"] = chosen.max_terms
    return Extension(NAME, "chunks", made_with, load)


def _columns(vectors: Sequence[SparseVector]) -> Mapping[str, pa.Array]:
    return {
        "terms": pa.array([vector.terms for vector in vectors], pa.list_(pa.int32())),
        "weights": pa.array([vector.weights for vector in vectors], pa.list_(pa.float32())),
    }


def _flat(column: pa.ChunkedArray, dtype: type[np.generic]) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *(np.asarray(chunk.flatten(), dtype) for chunk in column.chunks)])


def build(tools: Toolbox) -> Retrieval:
    encoder = load_sparse_encoder(tools.settings.sparse_encoder)
    stored = open_extension(tools.reader, extension(tools.settings)).rows(["terms", "weights"])
    places = stored.select(["filing_id", "page", "start", "end"])
    filing_ids = np.asarray(stored["filing_id"].to_pylist(), dtype=object)
    lengths = np.asarray([len(terms) for terms in stored["terms"]], dtype=np.int64)
    postings = Postings.of(lengths, _flat(stored["terms"], np.int32), _flat(stored["weights"], np.float32))

    async def find(query: Query, within: Scope, k: int, _: Journal) -> pa.Table:
        """The chunks with the highest dot product, except those without a common term."""
        scores = postings.scores(encoder.encode_query(search_text(query)))
        if within is not None:
            scores = np.where(np.isin(filing_ids, list(within)), scores, np.float32(0))
        best = np.argsort(-scores, kind="stable")[:k]
        best = best[scores[best] > 0]
        return tools.reader.with_texts(places.take(pa.array(best)).append_column("score", pa.array(scores[best])))

    return tools.flat(FoundPassages(tools.reader, find))

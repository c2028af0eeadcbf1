"""Ranks the pages of the chosen filings: the passage stage of the ``finray`` method.

A small trained model (``page_model``) weighs the features of each page (``page_features``). The passages are the best
chunk of each of the best k pages.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.settings import IndexSettings
from finray.index.reading.reader import IndexReader
from finray.models.encoder import Encoder, query_vector
from finray.retrieval.filing_pages import PageCache
from finray.retrieval.flat import chunk_passages
from finray.retrieval.page_features import page_candidates
from finray.retrieval.page_model import PageModel

_TRACED = 5
"""Passages whose features the trace explains."""
_DIGITS = 6
"""Decimals of a probability; further ones differ between machines and numbers of threads."""


class PagePassages:
    """``Passage.score`` is the model's probability that the page is the evidence."""

    def __init__(
        self, reader: IndexReader, encoder: Encoder, model: PageModel, cache_bytes: int = IndexSettings().cache_bytes
    ) -> None:
        self._pages = PageCache(reader, cache_bytes)
        self._encoder = encoder
        self._model = model

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        if not documents:
            return ()
        await query_vector(self._encoder, query.question)
        candidates = page_candidates(query, documents, self._pages, self._encoder)
        probabilities = self._model.probabilities(candidates.features)
        best = np.argsort(-probabilities, kind="stable")[:k].tolist()
        names = {document.filing.filing_id: document.filing.doc_name for document in documents}
        # Slices: ``take`` would first join the chunks of all filings.
        found = [candidates.chunks.slice(candidates.chunk[index], 1) for index in best]
        rows = pa.concat_tables([candidates.chunks.slice(0, 0), *found])
        scores = pa.array([round(float(probabilities[index]), _DIGITS) for index in best], pa.float64())
        result = chunk_passages(rows.append_column("score", scores), names)
        for passage, index in list(zip(result, best, strict=True))[:_TRACED]:
            reasons = self._model.reasons(candidates.features[index])
            journal.note(f"passage: {passage.doc_name} p. {passage.page + 1} {passage.score:.3f}: {reasons}")
        return result

"""``hirec``: HiREC's hierarchical retrieval (arXiv 2505.20368, section 4.1 and appendix B).

Documents: the k'_D = 100 filings whose cover summaries are nearest to the transformed question q', then a
cross-encoder over the summaries leaves k_D = 5. Passages: the 100 nearest chunks of those filings, then a
cross-encoder, which the paper fine-tunes, leaves k_P = 5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.types import Document
from finray.index.reader import IndexReader
from finray.models.encoder import Encoder
from finray.models.reranker import Reranker
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from finray.retrieval.rerank import RerankedPassages


class SummaryDocuments:
    """The ``k_candidates`` filings with the nearest cover summaries, ordered by a cross-encoder over the summaries."""

    def __init__(self, reader: IndexReader, encoder: Encoder, reranker: Reranker | None, k_candidates: int) -> None:
        self._encoder = encoder
        self._reranker = reranker
        self._k_candidates = k_candidates
        self._filings = {filing.filing_id: filing for filing in reader.filings()}
        self._ids, self._vectors = reader.cover_vectors()
        self._summaries = reader.cover_summaries()

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        if not self._ids:
            return ()
        scores = self._vectors @ self._encoder.encode_query(query.text)
        order = np.argsort(-scores, kind="stable")[: self._k_candidates]
        candidates = [(self._ids[index], float(scores[index])) for index in order]
        if self._reranker is not None:
            reranked = self._reranker.scores(query.text, [self._summaries[filing_id] for filing_id, _ in candidates])
            candidates = sorted(
                ((filing_id, float(score)) for (filing_id, _), score in zip(candidates, reranked, strict=True)),
                key=lambda item: -item[1],
            )
        chosen = [Document(self._filings[filing_id], score, ("cover summary",)) for filing_id, score in candidates[:k]]
        journal.note("documents: " + ", ".join(f"{d.filing.doc_name} {d.score:.3f}" for d in chosen))
        return chosen


def build(tools: Toolbox) -> Retrieval:
    candidates = tools.settings.retrieval.k_candidates
    documents = SummaryDocuments(tools.reader, tools.encoder, tools.document_reranker(), candidates)
    passages = RerankedPassages(
        tools.reader, tools.encoder, tools.passage_reranker(), candidates, lambda query: query.text
    )
    return Retrieval(documents, passages)

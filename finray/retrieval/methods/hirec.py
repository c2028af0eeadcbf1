"""``hirec``: HiREC's hierarchical retrieval (arXiv 2505.20368, section 4.1 and appendix C.1).

Documents: the k'_D = 100 filings whose cover summaries are nearest to the transformed question q', then a
cross-encoder over (q', summary) leaves k_D = 5. A language model writes the summaries, once for an index: `finray
extend --with hirec`. `methods.hirec.summaries=facts` searches the index's own instead, sentences of cover facts, as a
stand-in where there is no language model. If `document_reranker.model` is empty as well, because a small cross-encoder
cannot rank such sentences, their vectors alone rank the filings.

Passages: a cross-encoder, which the paper fine-tunes, scores every chunk of those filings, its title before its
content, against the question itself and leaves k_P = 5. Without the document stage (`retrieval.hierarchical=false`)
it scores the 50 chunks nearest to the question; the paper's "w/o HR" is `dense+title+rerank`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.query import Query
from finray.core.settings import Settings
from finray.index.extensions.table import open_extension
from finray.index.reading.reader import IndexReader
from finray.index.schema import vectors_matrix
from finray.models.encoder import Encoder, Vectors, query_vector
from finray.models.reranker import Reranker, pair_scores
from finray.retrieval.cover_summaries import cover_summaries
from finray.retrieval.flat import FilingTitles, FoundPassages, Scope
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

NAME: Final = "hirec"
_CHUNK = ["filing_id", "page", "start", "end", "text"]

extension = cover_summaries


class Summaries(Protocol):
    """Cover summaries of the filings of an index."""

    def nearest(self, vector: Vectors, limit: int) -> tuple[list[str], Vectors]:
        """The filings whose summaries have the largest cosine with ``vector``, best first, and these cosines."""
        ...

    def texts(self, filing_ids: Sequence[str]) -> list[str]: ...


class SummaryDocuments:
    """The ``k_candidates`` filings with the nearest cover summaries, ordered by a cross-encoder over the summaries."""

    def __init__(
        self,
        reader: IndexReader,
        summaries: Summaries,
        encoder: Encoder,
        reranker: Reranker | None,
        k_candidates: int,
    ) -> None:
        self._encoder = encoder
        self._reranker = reranker
        self._k_candidates = k_candidates
        self._filings = reader.filings().by_id
        self._summaries = summaries

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        vector = await query_vector(self._encoder, query.text)
        ids, scores = self._summaries.nearest(vector, self._k_candidates)
        if self._reranker is not None and ids:
            scores = await pair_scores(self._reranker, query.text, self._summaries.texts(ids))
        best = np.argsort(-scores, kind="stable")[:k]
        chosen = [Document(self._filings[ids[at]], float(scores[at]), ("cover summary",)) for at in best]
        journal.note("documents: " + ", ".join(f"{d.filing.doc_name} {d.score:.3f}" for d in chosen))
        return chosen


class WrittenSummaries:
    """The summaries that a language model wrote; filings without a usable one are missing.

    Raises IndexMismatchError, with the command that writes them, if they are not stored.
    """

    def __init__(self, reader: IndexReader, settings: Settings) -> None:
        stored = open_extension(reader, cover_summaries(settings)).rows(["summary", "vector"])
        stored = stored.filter(pc.is_valid(stored["summary"]))
        self._ids: list[str] = stored["filing_id"].to_pylist()
        self._texts: dict[str, str] = dict(zip(self._ids, stored["summary"].to_pylist(), strict=True))
        self._vectors = vectors_matrix(stored["vector"])

    def nearest(self, vector: Vectors, limit: int) -> tuple[list[str], Vectors]:
        scores = self._vectors @ vector
        order = np.argsort(-scores, kind="stable")[:limit]
        return [self._ids[at] for at in order], scores[order]

    def texts(self, filing_ids: Sequence[str]) -> list[str]:
        return [self._texts[filing_id] for filing_id in filing_ids]


class FactSummaries:
    """The index's own summaries of cover facts."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader

    def nearest(self, vector: Vectors, limit: int) -> tuple[list[str], Vectors]:
        hits = self._reader.search_covers_vector(vector, limit)
        return hits["filing_id"].to_pylist(), hits["score"].to_numpy()

    def texts(self, filing_ids: Sequence[str]) -> list[str]:
        found = self._reader.cover_summaries(filing_ids)
        return [found[filing_id] for filing_id in filing_ids]


def scored_passages(reader: IndexReader, encoder: Encoder, reranker: Reranker, flat_candidates: int) -> FoundPassages:
    """Every chunk in scope, ordered by ``reranker``; of a whole index the ``flat_candidates`` nearest."""
    titles = FilingTitles(reader)

    async def find(query: Query, within: Scope, k: int, journal: Journal) -> pa.Table:
        if within is None:
            vector = await query_vector(encoder, query.question)
            chunks = reader.search_chunks_vector(vector, None, max(k, flat_candidates), texts=True).select(_CHUNK)
        else:
            chunks = reader.chunks(within, _CHUNK)
        texts = [
            f"{titles[filing_id]} {text}"
            for filing_id, text in zip(chunks["filing_id"].to_pylist(), chunks["text"].to_pylist(), strict=True)
        ]
        scores = await pair_scores(reranker, query.question, texts)
        journal.note(f"passages: the best of {len(texts)} chunks")
        order = np.argsort(-scores, kind="stable")[:k]
        return chunks.take(pa.array(order)).append_column("score", pa.array(scores[order]))

    return FoundPassages(reader, find)


def build(tools: Toolbox) -> Retrieval:
    settings, reader = tools.settings, tools.reader
    chosen = settings.methods.hirec
    written = chosen.summaries == "llm"
    ranks_documents = written or bool(settings.document_reranker.model)
    document_reranker = tools.reranker("document_reranker") if ranks_documents else None
    passage_reranker = tools.reranker("passage_reranker")
    summaries = WrittenSummaries(reader, settings) if written else FactSummaries(reader)
    k_candidates = settings.retrieval.k_candidates
    documents = SummaryDocuments(reader, summaries, tools.encoder, document_reranker, k_candidates)
    return Retrieval(documents, scored_passages(reader, tools.encoder, passage_reranker, chosen.flat_candidates))

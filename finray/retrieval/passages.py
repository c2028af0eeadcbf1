"""Page- and statement-aware passage ranking inside the chosen filings.

A page's score joins three views of its text (dense over chunks, BM25 over chunks, BM25 over the page) with two facts
about its place: is it the primary statement the question needs, and how well does its filing match. Each page gives
its best chunk; the passages of the first k pages are the result, so k passages cover k pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from finray.index.reader import IndexReader
from finray.journal import Journal
from finray.models.encoder import Encoder
from finray.retrieval.query import Query
from finray.types import Document, Passage

Floats = npt.NDArray[np.float64]
Key = tuple[str, int]
"""(filing_id, page)."""


@dataclass(frozen=True, slots=True)
class PageWeights:
    """How the views of a page add up; text views are scaled to [0, 1] within the candidate filings first.

    ``named`` and ``implied`` go to pages of a statement that the question names, or that its metrics imply;
    ``document`` multiplies the filing's match score.
    """

    dense: float = 1.0
    chunk_lexical: float = 1.0
    page_lexical: float = 0.5
    named: float = 1.2
    implied: float = 0.8
    document: float = 3.0


class PagePassages:
    """The passage stage of the ``finray`` method: the local preset's."""

    def __init__(self, reader: IndexReader, encoder: Encoder, weights: PageWeights | None = None) -> None:
        self._reader = reader
        self._encoder = encoder
        self._weights = weights or PageWeights()

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        if not documents:
            return ()
        ids = [document.filing.filing_id for document in documents]
        chunks = self._reader.chunks(ids)
        if not chunks.num_rows:
            return ()
        pages = self._reader.pages(ids, ["filing_id", "page", "statement"])
        words = " ".join((query.text, *query.terms))
        places = _places(chunks)
        dense = _vectors(chunks) @ self._encoder.encode_query(query.question)
        lexical = _scores_at(places, self._reader.search_chunks_text(words, ids, limit=chunks.num_rows))
        page_lexical = _page_scores(self._reader.search_pages_text(words, ids, limit=pages.num_rows))
        weights = self._weights
        text = weights.dense * unit_range(dense) + weights.chunk_lexical * unit_range(lexical)
        best = _best_chunk_of_page(places, text)
        statements = dict(
            zip(
                zip(pages["filing_id"].to_pylist(), pages["page"].to_pylist(), strict=True),
                pages["statement"].to_pylist(),
                strict=True,
            )
        )
        match = {document.filing.filing_id: document.score for document in documents}
        top_lexical = max(page_lexical.values(), default=0.0) or 1.0
        scored = []
        for key, index in best.items():
            score = text[index] + weights.page_lexical * page_lexical.get(key, 0.0) / top_lexical
            score += weights.document * match[key[0]] + self._statement_bonus(query, statements.get(key))
            scored.append((float(score), key, index))
        scored.sort(key=lambda item: (-item[0], item[1]))
        names = {document.filing.filing_id: document.filing.doc_name for document in documents}
        result = _to_passages(chunks, [(index, score) for score, _, index in scored[:k]], names)
        journal.note("passages: " + ", ".join(f"{p.doc_name} p. {p.page + 1} {p.score:.2f}" for p in result[:5]))
        return result

    def _statement_bonus(self, query: Query, statement: str | None) -> float:
        if statement is None:
            return 0.0
        if statement in query.statements_named:
            return self._weights.named
        if statement not in query.statements:
            return 0.0
        # A question that asks for more than its metrics is as likely answered in words.
        return self._weights.implied if not query.unexplained else self._weights.implied / 4


def unit_range(values: npt.NDArray[np.floating]) -> Floats:
    """``values`` scaled to [0, 1]; all zero where they are equal."""
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not high > low:
        return np.zeros(len(values))
    return (np.asarray(values, dtype=np.float64) - low) / (high - low)


def _places(chunks: pa.Table) -> list[tuple[str, int, int]]:
    return list(
        zip(chunks["filing_id"].to_pylist(), chunks["page"].to_pylist(), chunks["start"].to_pylist(), strict=True)
    )


def _vectors(chunks: pa.Table) -> npt.NDArray[np.float32]:
    column = chunks["vector"].combine_chunks()
    return np.asarray(column.flatten(), dtype=np.float32).reshape(len(column), -1)


def _scores_at(places: Sequence[tuple[str, int, int]], hits: pa.Table) -> Floats:
    """BM25 scores in the order of ``places``; 0 for a chunk without a hit."""
    found = {
        (filing_id, page, start): score
        for filing_id, page, start, score in zip(
            *(hits[name].to_pylist() for name in ("filing_id", "page", "start", "score")), strict=True
        )
    }
    return np.asarray([found.get(place, 0.0) for place in places], dtype=np.float64)


def _page_scores(hits: pa.Table) -> dict[Key, float]:
    return {
        (filing_id, page): score
        for filing_id, page, score in zip(
            *(hits[name].to_pylist() for name in ("filing_id", "page", "score")), strict=True
        )
    }


def _best_chunk_of_page(places: Sequence[tuple[str, int, int]], scores: Floats) -> dict[Key, int]:
    best: dict[Key, int] = {}
    for index, (filing_id, page, _) in enumerate(places):
        key = (filing_id, page)
        if key not in best or scores[index] > scores[best[key]]:
            best[key] = index
    return best


def _to_passages(chunks: pa.Table, picked: Sequence[tuple[int, float]], names: dict[str, str]) -> list[Passage]:
    rows = chunks.select(["filing_id", "page", "start", "end", "text"]).take(
        pa.array([i for i, _ in picked], pa.int64())
    )
    return [
        Passage(names[row["filing_id"]], row["filing_id"], row["page"], row["start"], row["end"], row["text"], score)
        for row, (_, score) in zip(rows.to_pylist(), picked, strict=True)
    ]

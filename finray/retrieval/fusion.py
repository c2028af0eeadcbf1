"""Reciprocal rank fusion: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual
Rank Learning Methods" (SIGIR 2009)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.roles import PassageRetriever

Item = TypeVar("Item", bound=Hashable)


def fuse(rankings: Iterable[Sequence[Item]], constant: int) -> list[tuple[Item, float]]:
    """Each item with the sum of 1 / (``constant`` + rank) over the rankings that contain it, ranks from 1; best first,
    ties in order of appearance."""
    scores: dict[Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (constant + rank)
    return sorted(scores.items(), key=lambda entry: -entry[1])


class FusedPassages:
    """The first ``candidates`` passages of each retriever, fused."""

    def __init__(self, retrievers: Sequence[PassageRetriever], candidates: int, constant: int) -> None:
        self._retrievers = retrievers
        self._candidates = candidates
        self._constant = constant

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        limit = max(k, self._candidates)
        rankings = [await retriever.passages(query, documents, limit, journal) for retriever in self._retrievers]
        found = {place(passage): passage for ranking in rankings for passage in ranking}
        fused = fuse([[place(passage) for passage in ranking] for ranking in rankings], self._constant)
        return [replace(found[key], score=score) for key, score in fused[:k]]


def place(passage: Passage) -> tuple[str, int, int]:
    """Filing id, page and start: equal for the same passage of several rankings."""
    return (passage.filing_id, passage.page, passage.start)

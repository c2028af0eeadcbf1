"""The optional reranker of the ``finray`` method: fused with the page model's order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.retrieval.rerank import FusedReranking

FOUND = [Passage("d", "f", page, 0, 4, f"text {page}", 1.0 - page / 10) for page in range(5)]


class Inner:
    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        return FOUND[:k]


class Prefers:
    def __init__(self, *pages: int) -> None:
        self._pages = pages

    def scores(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        wanted = [f"text {page}" for page in self._pages]
        return np.asarray([float(len(wanted) - wanted.index(t)) if t in wanted else 0.0 for t in texts], np.float32)


async def pages(reranker: Prefers, candidates: int, k: int) -> list[int]:
    found = await FusedReranking(Inner(), reranker, candidates).passages(Query("q", "q"), [], k, Journal())
    return [passage.page for passage in found]


async def test_both_orders_count() -> None:
    assert await pages(Prefers(2, 0, 1), candidates=3, k=3) == [0, 2, 1]
    assert await pages(Prefers(0, 1, 2), candidates=3, k=3) == [0, 1, 2]


async def test_what_is_behind_the_candidates_stays_behind() -> None:
    assert await pages(Prefers(2, 0, 1), candidates=3, k=5) == [0, 2, 1, 3, 4]
    assert await pages(Prefers(4), candidates=3, k=2) == [0, 1]

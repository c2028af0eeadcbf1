"""Weighted sums of two rankings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.models.reranker import OverlapReranker
from finray.retrieval.methods.hybrid_search import WeightedPassages, scaled_to_one

from .conftest import Build


class Found:
    def __init__(self, scores: dict[str, float]) -> None:
        self._found = [Passage(name, name, 0, 0, 1, name, score) for name, score in scores.items()]

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        return self._found[:k]


DENSE, LEXICAL = Found({"a": 0.9, "b": 0.5, "c": 0.1}), Found({"c": 12.0, "d": 7.0, "a": 2.0})


def test_scores_are_scaled_from_the_worst_to_the_best() -> None:
    assert scaled_to_one([12.0, 7.0, 2.0]) == [1.0, 0.5, 0.0]
    assert scaled_to_one([3.0, 3.0]) == [1.0, 1.0]
    assert scaled_to_one([]) == []


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (0.7, {"a": 0.7, "b": 0.35, "c": 0.3, "d": 0.15}),
        (0.0, {"c": 1.0, "d": 0.5, "a": 0.0, "b": 0.0}),
        (1.0, {"a": 1.0, "b": 0.5, "c": 0.0, "d": 0.0}),
    ],
)
async def test_a_passage_that_one_ranking_lacks_has_nothing_from_it(weight: float, expected: dict[str, float]) -> None:
    both = WeightedPassages(DENSE, LEXICAL, weight, 3, None)
    found = await both.passages(Query("q", "q"), [], 4, Journal())
    assert {p.filing_id: pytest.approx(p.score) for p in found} == expected
    assert [p.filing_id for p in found] == list(expected)


async def test_a_reranker_orders_the_candidates_of_both() -> None:
    both = WeightedPassages(DENSE, LEXICAL, 0.7, 3, OverlapReranker())
    found = await both.passages(Query("d", "d"), [], 2, Journal())
    assert found[0].filing_id == "d"


async def test_words_and_vectors_both_count(search_with: Build) -> None:
    question = "operating lease commitments that had not yet commenced"
    lexical = await search_with("hybrid_search", methods__hybrid_search__weight=0.0)(question, k=5)
    assert {(p.filing_id, p.page, p.start) for p in lexical} == {
        (p.filing_id, p.page, p.start) for p in await search_with("bm25")(question, k=5)
    }
    dense = await search_with("hybrid_search", methods__hybrid_search__weight=1.0)(question, k=5)
    assert [(p.filing_id, p.page, p.start) for p in dense] == [
        (p.filing_id, p.page, p.start) for p in await search_with("dense")(question, k=5)
    ]
    assert await search_with("hybrid_search", methods__hybrid_search__rerank=True)(question, k=5)

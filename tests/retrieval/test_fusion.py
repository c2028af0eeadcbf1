from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.retrieval.fusion import fuse

RANKINGS = st.lists(st.lists(st.integers(0, 20), unique=True), max_size=4)


def test_scores_are_those_of_the_paper() -> None:
    fused = fuse([["a", "b", "c"], ["c", "a"]], 60)
    assert [item for item, _ in fused] == ["a", "c", "b"]
    assert dict(fused) == pytest.approx({"a": 1 / 61 + 1 / 62, "c": 1 / 63 + 1 / 61, "b": 1 / 62})


@given(RANKINGS)
def test_every_item_comes_out_once_best_first(rankings: list[list[int]]) -> None:
    fused = fuse(rankings, 60)
    assert sorted(item for item, _ in fused) == sorted({item for ranking in rankings for item in ranking})
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)


@given(st.lists(st.integers(0, 20), unique=True), st.integers(1, 3))
def test_rankings_that_agree_stay_as_they_are(ranking: list[int], times: int) -> None:
    assert [item for item, _ in fuse([ranking] * times, 60)] == ranking

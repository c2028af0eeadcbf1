"""Soft clusters: groups are found, every row is in one, and the same vectors give the same clusters."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finray.core.errors import MissingExtraError
from finray.core.method_settings import FingearParameters, RaptorParameters, TreeParameters
from finray.models.encoder import Vectors
from finray.retrieval.trees.clustering import Members, soft_clusters, two_level_clusters

CHOSEN = FingearParameters(reduction="spectral", dimension=3)


def groups(sizes: list[int], spread: float = 0.05, seed: int = 0) -> Vectors:
    """Unit vectors around one axis for each group."""
    random = np.random.default_rng(seed)
    rows = [np.eye(16)[number] + spread * random.normal(size=16) for number, n in enumerate(sizes) for _ in range(n)]
    matrix = np.asarray(rows, dtype=np.float32)
    unit: Vectors = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return unit


@pytest.mark.parametrize("cluster", [soft_clusters, two_level_clusters])
def test_separate_groups_never_share_a_cluster(cluster: Callable[[Vectors, TreeParameters], list[Members]]) -> None:
    owner = np.repeat([0, 1, 2], [15, 12, 18])
    found = cluster(groups([15, 12, 18]), RaptorParameters(reduction="spectral", dimension=3))
    assert len(found) >= 3
    assert all(len(set(owner[members])) == 1 for members in found)


def test_as_many_rows_as_dimensions_and_one_are_one_cluster() -> None:
    assert [members.tolist() for members in soft_clusters(groups([4]), CHOSEN)] == [[0, 1, 2, 3]]


def test_the_same_vectors_give_the_same_clusters() -> None:
    vectors = groups([20, 20], spread=0.3)
    first, second = (soft_clusters(vectors, CHOSEN) for _ in range(2))
    assert [members.tolist() for members in first] == [members.tolist() for members in second]


def test_never_more_clusters_than_the_setting_allows() -> None:
    few = FingearParameters(reduction="spectral", dimension=3, max_clusters=2)
    assert len(soft_clusters(groups([10, 10, 10, 10]), few)) <= 2


@settings(max_examples=10)
@given(st.integers(1, 30), st.integers(0, 5), st.sampled_from([0.0, 0.5, 3.0]))
def test_every_row_is_in_a_cluster(rows: int, seed: int, spread: float) -> None:
    """Also if all vectors are equal, as those of blank forms are."""
    found = soft_clusters(groups([rows], spread, seed), CHOSEN)
    assert set(np.concatenate(found).tolist()) == set(range(rows))


def test_without_umap_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MissingExtraError, match=r"'spectral'.*pip install 'finray\[trees\]'"):
        soft_clusters(groups([20]), FingearParameters())

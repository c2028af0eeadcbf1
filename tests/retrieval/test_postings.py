from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from finray.models.sparse_encoder import SparseVector
from finray.retrieval.postings import Postings

VECTOR = st.dictionaries(st.integers(0, 12), st.floats(0.125, 5, width=32), max_size=8).map(
    lambda found: SparseVector(
        np.asarray(sorted(found), dtype=np.int32),
        np.asarray([found[term] for term in sorted(found)], dtype=np.float32),
    )
)


def dense(vector: SparseVector) -> np.ndarray:
    result = np.zeros(13, dtype=np.float32)
    result[vector.terms] = vector.weights
    return result


@given(st.lists(VECTOR, max_size=12), VECTOR)
def test_scores_are_dot_products(rows: list[SparseVector], query: SparseVector) -> None:
    none = np.empty(0, dtype=np.int32)
    postings = Postings.of(
        np.asarray([len(row.terms) for row in rows], dtype=np.int64),
        np.concatenate([none, *(row.terms for row in rows)]),
        np.concatenate([none.astype(np.float32), *(row.weights for row in rows)]),
    )
    expected = [float(dense(row) @ dense(query)) for row in rows]
    np.testing.assert_allclose(postings.scores(query), np.asarray(expected, dtype=np.float32), rtol=1e-5, atol=1e-5)

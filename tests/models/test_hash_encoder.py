from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from finray.models.hash_encoder import HashEncoder


@given(st.lists(st.text(max_size=200), max_size=5))
@settings(deadline=None, max_examples=25)
def test_any_text_can_be_encoded(texts: list[str]) -> None:
    vectors = HashEncoder().encode_passages(texts)
    assert vectors.shape[0] == len(texts)
    assert np.isfinite(vectors).all()

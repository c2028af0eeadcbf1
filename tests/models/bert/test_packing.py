"""Packed sequences: every token once, in order, at its place."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from finray.models.bert.packing import packed

_SEQUENCES = st.lists(st.lists(st.integers(0, 30_000), min_size=1, max_size=9), min_size=1, max_size=6)


@given(_SEQUENCES, st.integers(0, 9))
def test_tokens_stand_where_they_stood(sequences: list[list[int]], second: int) -> None:
    found = packed(sequences, [second] * len(sequences))
    assert [found.ids[found.at[row][found.there[row]]].tolist() for row in range(len(sequences))] == sequences
    assert found.places.tolist() == [place for own in sequences for place in range(len(own))]
    assert found.types.tolist() == [int(place >= second) for place in found.places]
    assert found.there.sum() == len(found.ids)
    assert {each.dtype for each in (found.ids, found.types, found.places, found.at)} == {np.dtype(np.int64)}

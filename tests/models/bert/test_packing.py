"""Packed sequences have every token once, in order, with its position."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from finray.models.bert.packing import packed

_SEQUENCES = st.lists(st.lists(st.integers(0, 30_000), min_size=1, max_size=9), min_size=1, max_size=6)


@given(_SEQUENCES, st.integers(0, 9))
def test_tokens_keep_their_order_and_positions(sequences: list[list[int]], second: int) -> None:
    found = packed(sequences, [second] * len(sequences))
    assert [found.ids[found.indexes[row][found.mask[row]]].tolist() for row in range(len(sequences))] == sequences
    assert found.positions.tolist() == [position for sequence in sequences for position in range(len(sequence))]
    assert found.types.tolist() == [int(position >= second) for position in found.positions]
    assert found.mask.sum() == len(found.ids)
    assert {each.dtype for each in (found.ids, found.types, found.positions, found.indexes)} == {np.dtype(np.int64)}

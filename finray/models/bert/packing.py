"""Packs sequences of different lengths without padding: most of the work is in linear layers, which need none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


class Packed(NamedTuple):
    """``ids``, ``types`` and ``positions`` [tokens]. ``mask`` [sequences, longest] is true for a token, false for
    padding; ``indexes``, of the same shape, is the number of the token among all, 0 for padding."""

    ids: Integers
    types: Integers
    positions: Integers
    mask: npt.NDArray[np.bool_]
    indexes: Integers


def packed(sequences: Sequence[Sequence[int]], second: Sequence[int]) -> Packed:
    """``sequences`` packed. Tokens from position ``second`` of their sequence on have type 1."""
    lengths = np.asarray([len(sequence) for sequence in sequences])
    position = np.arange(lengths.max())[None, :]
    mask = position < lengths[:, None]
    indexes = np.zeros(mask.shape, dtype=np.int64)
    indexes[mask] = np.arange(lengths.sum())
    types = (position >= np.asarray(second)[:, None])[mask].astype(np.int64)
    ids = np.asarray([token for sequence in sequences for token in sequence], dtype=np.int64)
    return Packed(ids, types, np.broadcast_to(position, mask.shape)[mask].astype(np.int64), mask, indexes)

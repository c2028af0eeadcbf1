"""Sequences of different length one behind another, so that linear layers, most of the work, compute no padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


class Packed(NamedTuple):
    """``ids``, ``types`` and ``places`` [tokens]; ``there`` [sequences, longest]: the sequence has a token at this
    place; ``at`` of the same shape: which of all tokens that is."""

    ids: Integers
    types: Integers
    places: Integers
    there: npt.NDArray[np.bool_]
    at: Integers


def packed(sequences: Sequence[Sequence[int]], second: Sequence[int]) -> Packed:
    """``second`` is where the second part of each sequence begins, whose tokens have type 1."""
    lengths = np.asarray([len(own) for own in sequences])
    place = np.arange(lengths.max())[None, :]
    there = place < lengths[:, None]
    at = np.zeros(there.shape, dtype=np.int64)
    at[there] = np.arange(lengths.sum())
    types = (place >= np.asarray(second)[:, None])[there].astype(np.int64)
    ids = np.asarray([token for own in sequences for token in own], dtype=np.int64)
    return Packed(ids, types, np.broadcast_to(place, there.shape)[there].astype(np.int64), there, at)

"""Caches encoded queries, since several stages of one question need the same vector."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from finray.models.encoder import Encoder, Vectors

_QUERIES = 1024


class QueryCache:
    """``encoder`` with a cache of its last queries."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.encode_query = lru_cache(_QUERIES)(encoder.encode_query)

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_passages(texts)

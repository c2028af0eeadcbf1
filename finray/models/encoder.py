"""The role of an encoder: text to a vector of unit length, so that the dot product is the cosine."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
_QUERIES = 1024


class Encoder(Protocol):
    """``dimension`` is the length of a vector. Both methods may be called from several threads."""

    @property
    def dimension(self) -> int: ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), dimension], rows of unit length, in the order of ``texts``."""
        ...

    def encode_query(self, text: str) -> Vectors:
        """float32 [dimension], unit length."""
        ...


@runtime_checkable
class AwaitableEncoder(Protocol):
    """An encoder whose caller can do other work meanwhile, because it runs elsewhere."""

    async def query_vector(self, text: str) -> Vectors:
        """As :meth:`Encoder.encode_query`."""
        ...

    async def passage_vectors(self, texts: Sequence[str]) -> Vectors:
        """As :meth:`Encoder.encode_passages`."""
        ...


async def query_vector(encoder: Encoder, text: str) -> Vectors:
    """``encoder.encode_query(text)``; while an encoder elsewhere computes it, other questions go on, so that it gets
    their texts together. Await it before code that calls ``encode_query`` itself: a QueryCache keeps the vector."""
    if isinstance(encoder, AwaitableEncoder):
        return await encoder.query_vector(text)
    return encoder.encode_query(text)


async def passage_vectors(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """``encoder.encode_passages(texts)``; an encoder elsewhere leaves this process free meanwhile."""
    if isinstance(encoder, AwaitableEncoder):
        return await encoder.passage_vectors(texts)
    return encoder.encode_passages(texts)


class QueryCache:
    """``encoder`` with a cache of its last queries: several stages of one question need the same vector."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    def encode_query(self, text: str) -> Vectors:
        vector = self._known(text)
        return self._keep(text, self._encoder.encode_query(text)) if vector is None else vector

    async def query_vector(self, text: str) -> Vectors:
        vector = self._known(text)
        return self._keep(text, await query_vector(self._encoder, text)) if vector is None else vector

    def _known(self, text: str) -> Vectors | None:
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
        return vector

    def _keep(self, text: str, vector: Vectors) -> Vectors:
        with self._lock:
            self._vectors[text] = vector
            if len(self._vectors) > _QUERIES:
                self._vectors.popitem(last=False)
        return vector

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_passages(texts)

    async def passage_vectors(self, texts: Sequence[str]) -> Vectors:
        return await passage_vectors(self._encoder, texts)

"""An encoder without weights."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from finray.models.encoder import Vectors

_WORD = re.compile(r"\w+")


class HashEncoder:
    """For tests and machines without a model: each word adds ±1 to one of ``dimension`` components, so texts with
    common words are close. Deterministic."""

    def __init__(self, dimension: int = 64) -> None:
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        return self._dimension

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in _WORD.findall(text.lower()) or [""]:
                digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                row[int.from_bytes(digest[:4], "big") % self._dimension] += 1.0 if digest[4] & 1 else -1.0
            if not row.any():  # the words cancelled each other out
                row[0] = 1.0
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def encode_query(self, text: str) -> Vectors:
        vector: Vectors = self.encode_passages([text])[0]
        return vector

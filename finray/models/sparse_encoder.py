"""The role of a sparse encoder (SPLADE): text to weights of vocabulary terms; the dot product is the score."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from finray.core.settings import SparseEncoderSettings
from finray.models import hub


@dataclass(frozen=True, slots=True)
class SparseVector:
    """``terms`` int32 [n], distinct and ascending; ``weights`` float32 [n], positive."""

    terms: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]


class SparseEncoder(Protocol):
    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]: ...

    def encode_query(self, text: str) -> SparseVector: ...


class HashSparseEncoder:
    """A fake without weights: a word's hash is its term, weighted by log(1 + count)."""

    VOCABULARY: Final = 30_522

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]:
        return [self.encode_query(text) for text in texts]

    def encode_query(self, text: str) -> SparseVector:
        counts = Counter(self._term(word) for word in re.findall(r"\w+", text.lower()))
        terms = sorted(counts)
        weights = np.log1p(np.asarray([counts[term] for term in terms], dtype=np.float32))
        return SparseVector(np.asarray(terms, dtype=np.int32), weights)

    def _term(self, word: str) -> int:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest()
        return int.from_bytes(digest, "big") % self.VOCABULARY


class TransformerSparseEncoder:
    """A sentence-transformers SparseEncoder folder or hub name."""

    def __init__(self, settings: SparseEncoderSettings) -> None:
        from sentence_transformers import SparseEncoder as Model

        self._model = hub.sentence_transformers_model(Model, "sparse encoder (sparse_encoder.model)", settings)
        longest = self._model.max_seq_length
        self._model.max_seq_length = min(settings.max_tokens, longest) if longest else settings.max_tokens
        self._batch_size = settings.batch_size
        self._max_terms = settings.max_terms or None

    def encode_passages(self, texts: Sequence[str]) -> list[SparseVector]:
        return self._encode(self._model.encode_document, list(texts)) if texts else []

    def encode_query(self, text: str) -> SparseVector:
        return self._encode(self._model.encode_query, [text])[0]

    def _encode(self, encode: Any, texts: list[str]) -> list[SparseVector]:
        matrix = encode(
            texts,
            batch_size=self._batch_size,
            convert_to_sparse_tensor=True,
            save_to_cpu=True,
            show_progress_bar=False,
            max_active_dims=self._max_terms,
        ).coalesce()
        rows, terms = matrix.indices().numpy()
        weights = matrix.values().float().numpy()
        starts = np.searchsorted(rows, np.arange(len(texts) + 1))
        return [
            SparseVector(terms[start:stop].astype(np.int32), weights[start:stop].astype(np.float32))
            for start, stop in itertools.pairwise(starts)
        ]


def load_sparse_encoder(settings: SparseEncoderSettings) -> SparseEncoder:
    """The encoder of ``settings``; "hash" is the fake. Raises ModelUnavailableError."""
    return HashSparseEncoder() if settings.model == "hash" else TransformerSparseEncoder(settings)

"""Deployments of the encoder and reranker, which batch across requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from ray import serve

from finray.cluster.gpus import hide_unassigned_gpus
from finray.cluster.replica_calls import IDENTITY
from finray.core.settings import EncoderSettings, RerankerSettings
from finray.models.encoder import Vectors
from finray.models.encoder_loading import load_encoder
from finray.models.reranker import load_reranker

Scores = npt.NDArray[np.float32]


class EncoderReplica:
    """Encodes texts that already have their prefix, so that queries and passages share batches."""

    def __init__(self, settings: EncoderSettings, max_batch_size: int, batch_wait_s: float) -> None:
        hide_unassigned_gpus()
        self._settings = settings
        self._encoder = load_encoder(settings.model_copy(update={"query_prefix": "", "passage_prefix": ""}))
        self._encode.set_max_batch_size(max_batch_size)  # type: ignore[attr-defined]
        self._encode.set_batch_wait_timeout_s(batch_wait_s)  # type: ignore[attr-defined]

    async def serves(self) -> dict[str, object]:
        """The settings that decide the vectors of a text, by which callers check that this is the model they want."""
        return self._settings.model_dump(include=IDENTITY)

    async def encode(self, texts: list[str]) -> Vectors:
        """float32 [len(texts), d]."""
        vectors: Vectors = await self._encode(texts)
        return vectors

    @serve.batch
    async def _encode(self, requests: list[list[str]]) -> list[Vectors]:
        texts = [text for request in requests for text in request]
        vectors = await asyncio.to_thread(self._encoder.encode_passages, texts)
        return _cut(vectors, [len(request) for request in requests])


class RerankerReplica:
    """Scores (query, text) pairs."""

    def __init__(self, settings: RerankerSettings, max_batch_size: int, batch_wait_s: float) -> None:
        hide_unassigned_gpus()
        self._settings = settings
        self._reranker = load_reranker(settings)
        self._score.set_max_batch_size(max_batch_size)  # type: ignore[attr-defined]
        self._score.set_batch_wait_timeout_s(batch_wait_s)  # type: ignore[attr-defined]

    async def serves(self) -> dict[str, object]:
        """The settings that decide the scores of a pair."""
        return self._settings.model_dump(include=IDENTITY)

    async def score(self, query: str, texts: list[str]) -> Scores:
        """float32 [len(texts)]."""
        scores: Scores = await self._score([(query, text) for text in texts])
        return scores

    @serve.batch
    async def _score(self, requests: list[list[tuple[str, str]]]) -> list[Scores]:
        pairs = [pair for request in requests for pair in request]
        scores = await asyncio.to_thread(self._reranker.score_pairs, pairs)
        return _cut(scores, [len(request) for request in requests])


ENCODER: Any = serve.deployment(name="encoder")(EncoderReplica)
RERANKER: Any = serve.deployment(name="reranker")(RerankerReplica)


def _cut(values: npt.NDArray[np.float32], lengths: Sequence[int]) -> list[npt.NDArray[np.float32]]:
    return np.split(values, np.cumsum(lengths)[:-1])

"""Encoder and reranker as replicas that batch across requests, and the roles over their handles."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from ray import serve
from ray.exceptions import RayError, RayTaskError

from finray.core.errors import FinrayError, ModelUnavailableError
from finray.core.settings import EncoderSettings, RerankerSettings
from finray.models.encoder import Vectors, load_encoder
from finray.models.reranker import load_reranker

_TRIES = 3
Scores = npt.NDArray[np.float32]


class EncoderReplica:
    """Vectors of texts that have their prefix already, so that queries and passages share batches."""

    def __init__(self, settings: EncoderSettings, max_batch_size: int, batch_wait_s: float) -> None:
        self._encoder = load_encoder(settings.model_copy(update={"query_prefix": "", "passage_prefix": ""}))
        self._encode.set_max_batch_size(max_batch_size)  # type: ignore[attr-defined]
        self._encode.set_batch_wait_timeout_s(batch_wait_s)  # type: ignore[attr-defined]

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
    """Scores of (query, text) pairs."""

    def __init__(self, settings: RerankerSettings, max_batch_size: int, batch_wait_s: float) -> None:
        self._reranker = load_reranker(settings)
        self._score.set_max_batch_size(max_batch_size)  # type: ignore[attr-defined]
        self._score.set_batch_wait_timeout_s(batch_wait_s)  # type: ignore[attr-defined]

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


class _Asked:
    """A handle for threads that compute: the event loop of the replica sends and receives, the thread waits."""

    def __init__(self, handle: Any, loop: asyncio.AbstractEventLoop, timeout_s: float) -> None:
        self._handle, self._loop, self._timeout_s = handle, loop, timeout_s

    def __call__(self, method: str, *arguments: object) -> Any:
        """Raises ModelUnavailableError where no replica answers."""
        for attempt in range(1, _TRIES + 1):
            try:
                return asyncio.run_coroutine_threadsafe(self._ask(method, arguments), self._loop).result(
                    self._timeout_s
                )
            except RayTaskError as error:
                if isinstance(error.cause, FinrayError):
                    raise error.cause from None
                raise
            except (RayError, TimeoutError) as error:
                if attempt == _TRIES:
                    name = self._handle.deployment_name
                    raise ModelUnavailableError(f"no replica of {name!r} answered: {type(error).__name__}") from error
        raise AssertionError

    async def _ask(self, method: str, arguments: tuple[object, ...]) -> Any:
        return await getattr(self._handle, method).remote(*arguments)


class HandleEncoder:
    """The encoder role over a handle of :class:`EncoderReplica`. Not to be called on ``loop`` itself."""

    def __init__(
        self,
        handle: Any,
        settings: EncoderSettings,
        dimension: int,
        loop: asyncio.AbstractEventLoop,
        timeout_s: float = 60.0,
    ) -> None:
        self._ask, self._settings, self._dimension = _Asked(handle, loop, timeout_s), settings, dimension

    @property
    def dimension(self) -> int:
        return self._dimension

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        vectors: Vectors = self._ask("encode", [self._settings.passage_prefix + text for text in texts])
        return vectors

    def encode_query(self, text: str) -> Vectors:
        vector: Vectors = self._ask("encode", [self._settings.query_prefix + text])[0]
        return vector


class HandleReranker:
    """The reranker role over a handle of :class:`RerankerReplica`. Not to be called on ``loop`` itself."""

    def __init__(self, handle: Any, loop: asyncio.AbstractEventLoop, timeout_s: float = 60.0) -> None:
        self._ask = _Asked(handle, loop, timeout_s)

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        if not texts:
            return np.zeros(0, dtype=np.float32)
        scores: Scores = self._ask("score", query, list(texts))
        return scores


def _cut(values: npt.NDArray[np.float32], lengths: Sequence[int]) -> list[npt.NDArray[np.float32]]:
    return np.split(values, np.cumsum(lengths)[:-1])

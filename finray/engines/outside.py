"""Models that run elsewhere, for an engine's process: the parent calls them and passes on the reply."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from types import MappingProxyType
from typing import Any, Final, cast

import numpy as np

from finray.core.settings import EncoderSettings
from finray.engines.messages import Call, Cancel, Reply, ToParent, settle
from finray.engines.source import Role
from finray.models.chat import ChatReply, Message
from finray.models.encoder import Vectors
from finray.models.reranker import Scores

Outsiders = Mapping[Role, Callable[..., Coroutine[Any, Any, Any]]]
"""The models in the parent: ``encoder(texts)`` returns vectors of texts that include their prefix, rerankers
``(query, texts)`` return scores, ``chat`` and ``answer_chat`` ``(messages, schema)`` a ChatReply. Each raises
FinrayError if it fails."""
NO_OUTSIDERS: Final[Outsiders] = MappingProxyType({})


class Outside:
    """The child's access to the parent's models. Thread-safe."""

    def __init__(self, send: Callable[[ToParent], None]) -> None:
        self._send = send
        self._numbers = itertools.count()
        self._waiting: dict[int, Future[Any]] = {}
        self._blocking: set[Future[Any]] = set()
        self._lock = threading.Lock()

    def call(self, role: Role, *arguments: object) -> Any:
        """Blocks until the reply arrives. Raises CancelledError if interrupted."""
        _, reply = self._begin(role, arguments)
        self._blocking.add(reply)
        try:
            return reply.result()
        finally:
            self._blocking.discard(reply)

    async def acall(self, role: Role, *arguments: object) -> Any:
        """Like :meth:`call`, without blocking; canceling it cancels the call."""
        number, reply = self._begin(role, arguments)
        try:
            return await asyncio.wrap_future(reply)
        except asyncio.CancelledError:
            self._send(Cancel(number))
            raise

    def interrupt(self) -> None:
        """End the blocking calls of the request that computes now."""
        for reply in tuple(self._blocking):
            settle(reply, error=asyncio.CancelledError())

    def replied(self, reply: Reply) -> None:
        with self._lock:
            future = self._waiting.pop(reply.number)
        settle(future, reply.value, reply.error)

    def _begin(self, role: Role, arguments: tuple[Any, ...]) -> tuple[int, Future[Any]]:
        future: Future[Any] = Future()
        with self._lock:
            number = next(self._numbers)
            self._waiting[number] = future
        self._send(Call(number, role, arguments))
        return number, future


class OutsideEncoder:
    def __init__(self, outside: Outside, settings: EncoderSettings, dimension: int) -> None:
        self._outside, self._settings, self._dimension = outside, settings, dimension

    @property
    def dimension(self) -> int:
        return self._dimension

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        return cast(Vectors, self._outside.call("encoder", self._prefixed(texts)))

    def encode_query(self, text: str) -> Vectors:
        return cast(Vectors, self._outside.call("encoder", [self._settings.query_prefix + text])[0])

    async def query_vector(self, text: str) -> Vectors:
        return cast(Vectors, (await self._outside.acall("encoder", [self._settings.query_prefix + text]))[0])

    async def passage_vectors(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        return cast(Vectors, await self._outside.acall("encoder", self._prefixed(texts)))

    def _prefixed(self, texts: Sequence[str]) -> list[str]:
        return [self._settings.passage_prefix + text for text in texts]


class OutsideReranker:
    def __init__(self, outside: Outside, role: Role) -> None:
        self._outside, self._role = outside, role

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        if not texts:
            return np.zeros(0, dtype=np.float32)
        return cast(Scores, self._outside.call(self._role, query, list(texts)))

    async def pair_scores(self, query: str, texts: Sequence[str]) -> Scores:
        if not texts:
            return np.zeros(0, dtype=np.float32)
        return cast(Scores, await self._outside.acall(self._role, query, list(texts)))


class OutsideChat:
    def __init__(self, outside: Outside, role: Role) -> None:
        self._outside, self._role = outside, role

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        return cast(ChatReply, await self._outside.acall(self._role, tuple(messages), schema))

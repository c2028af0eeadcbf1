"""The deployment that answers questions, and the ingress's service that forwards to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pkgutil import resolve_name
from typing import Any, cast

from ray import serve

from finray.api.limits import Capacity
from finray.api.logs import log_json
from finray.api.page_images import Drawing
from finray.api.service import Asked, AskedRetrieval, LocalService, P, Service, T, Work
from finray.cluster.gpus import hide_unassigned_gpus
from finray.cluster.replica_calls import METHODS, asker
from finray.core.replies import AnswerEvent, Ready, Retrieved, ServiceEvent
from finray.core.settings import Settings
from finray.engine import asks_llm
from finray.engines.outside import Outsiders
from finray.engines.questions import chat_outside, outside_of
from finray.engines.source import Role
from serve.calls import reply_to, stream_of
from serve.config import ServeArguments
from serve.metrics import ray_telemetry

Handles = dict[str, Any]
"""Handles of other deployments by name: encoder, document_reranker, passage_reranker, llm."""


async def local_service(arguments: ServeArguments, handles: Handles) -> LocalService:
    """The service over engines of this replica. They call the deployments in ``handles`` through this process and load
    all other models themselves.

    Raises IndexMissingError, IndexMismatchError, ModelUnavailableError.
    """
    settings, loop = arguments.settings(), asyncio.get_running_loop()

    def open_service() -> LocalService:
        outsiders = _outsiders(arguments, settings, handles)
        return LocalService(arguments.index, settings, ray_telemetry(), outsiders=outsiders, outside_loop=loop)

    service = await asyncio.to_thread(open_service)
    try:
        await service.ready()
    except BaseException:
        await service.stop()
        raise
    return service


class Answering:
    """Replicas with engines. One replica handles each request, on one version of the index."""

    async def __init__(self, arguments: ServeArguments, handles: Handles) -> None:  # type: ignore[misc]
        log_json(logging.INFO)
        hide_unassigned_gpus()
        self._service = await local_service(arguments, handles)
        await self._service.start()

    async def call(self, method: str, *args: object, **kwargs: object) -> Any:
        """A method of the service that has one reply."""
        return await getattr(self._service, method)(*args, **kwargs)

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        async for event in self._service.answer(asked):
            yield event

    def __del__(self) -> None:
        service = getattr(self, "_service", None)  # missing if __init__ failed
        if service is not None:
            service.close()


ANSWERING: Any = serve.deployment(name="answering")(Answering)


class RemoteService:
    """The service over a handle of :class:`Answering`. If a replica is lost, its requests go to another one once.

    ``capacity`` limits the open questions of this ingress, which refuses more at once without asking a replica.
    """

    def __init__(self, handle: Any, capacity: Capacity) -> None:
        self._handle, self._stream = handle, handle.options(stream=True)
        self._capacity = capacity

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        with self._capacity.admit(len(asked.questions)):
            async with aclosing(stream_of(lambda: self._stream.answer.remote(asked))) as events:
                async for event in events:
                    if isinstance(event, AnswerEvent):
                        self._capacity.took(event.prediction.seconds)
                    yield event

    async def status(self) -> Ready:
        return cast(Ready, await self._ask("status"))

    async def retrieve(self, asked: AskedRetrieval) -> Retrieved:
        return cast(Retrieved, await self._ask("retrieve", asked))

    async def read(self, key: str, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return cast(T, await self._ask("read", key, work, *args, **kwargs))

    async def page_image(self, key: str, filing_id: str, drawing: Drawing) -> bytes:
        return cast(bytes, await self._ask("page_image", key, filing_id, drawing))

    async def _ask(self, method: str, *args: object, **kwargs: object) -> Any:
        return await reply_to(lambda: self._handle.call.remote(method, *args, **kwargs))


async def service_behind(arguments: ServeArguments, handles: Handles) -> Service:
    """The service over ``handles["answering"]`` if present, else over engines of this replica."""
    if "answering" not in handles:
        return await local_service(arguments, handles)
    replicas = arguments.answering.max_replicas if arguments.answering is not None else 1
    serving = arguments.settings().serving
    capacity = Capacity(serving.max_in_flight * replicas, serving.engines * replicas)
    return RemoteService(handles["answering"], capacity)


def _outsiders(arguments: ServeArguments, settings: Settings, handles: Handles) -> Outsiders:
    own: frozenset[Role] = frozenset({"chat"} if arguments.llm is not None else ())
    outsiders = dict(outside_of(settings, asks_llm=asks_llm(settings), without=own))
    for role, method in METHODS.items():
        if role in handles:
            outsiders[role] = asker(handles[role], method)
    if arguments.llm is not None:
        outsiders["chat"] = chat_outside(resolve_name(arguments.llm.chat)(handles["llm"], settings))
    return outsiders

"""The deployment that answers questions, and the ingress's service that forwards to it."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import AsyncGenerator
from typing import Any

from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import BackPressureError

from finray.api.errors import INTERNAL, ApiError
from finray.api.limits import Capacity
from finray.api.logs import log_json
from finray.api.page_images import Marks
from finray.api.service import Asked, AskedRetrieval, LocalService
from finray.core.filing_filter import FilingFilter
from finray.core.replies import AnswerEvent, FilingDetail, FilingList, FilingPage, Ready, Retrieved, ServiceEvent
from finray.core.settings import Settings
from finray.engine import asks_llm
from finray.engines.outside import Outsiders
from finray.engines.questions import chat_outside, outside_of
from serve.config import ServeArguments
from serve.metrics import ray_telemetry
from serve.models import asker

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
        self._service = await local_service(arguments, handles)
        await self._service.start()

    async def status(self) -> Ready:
        return await self._service.status()

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        async for event in self._service.answer(asked):
            yield event

    async def retrieve(self, asked: AskedRetrieval) -> Retrieved:
        return await self._service.retrieve(asked)

    async def filings(self, key: str, narrowed: FilingFilter, after: str, limit: int) -> FilingList:
        return await self._service.filings(key, narrowed, after, limit)

    async def filing(self, key: str, filing_id: str) -> FilingDetail:
        return await self._service.filing(key, filing_id)

    async def page(self, key: str, filing_id: str, page: int) -> FilingPage:
        return await self._service.page(key, filing_id, page)

    async def page_image(self, key: str, filing_id: str, page: int, marks: Marks, dpi: int) -> bytes:
        return await self._service.page_image(key, filing_id, page, marks, dpi)

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
        self._handle = handle
        self._capacity = capacity
        self._open = 0
        self._stream = handle.options(stream=True)

    async def status(self) -> Ready:
        reply: Ready = await self._ask("status")
        return reply

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        questions = len(asked.questions)
        self._capacity.check(self._open, questions)
        self._open += questions
        try:
            async for event in self._stream_with_retry(asked):
                if isinstance(event, AnswerEvent):
                    self._capacity.took(event.prediction.seconds)
                yield event
        finally:
            self._open -= questions

    async def _stream_with_retry(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        for last in (False, True):
            response, begun = self._stream.answer.remote(asked), False
            try:
                async for event in response:
                    begun = True
                    yield event
                return
            except (RayError, BackPressureError) as error:
                if last or begun or not _is_lost(error):
                    raise _as_api_error(error) from error
            finally:
                response.cancel()

    async def retrieve(self, asked: AskedRetrieval) -> Retrieved:
        reply: Retrieved = await self._ask("retrieve", asked)
        return reply

    async def filings(self, key: str, narrowed: FilingFilter, after: str, limit: int) -> FilingList:
        reply: FilingList = await self._ask("filings", key, narrowed, after, limit)
        return reply

    async def filing(self, key: str, filing_id: str) -> FilingDetail:
        reply: FilingDetail = await self._ask("filing", key, filing_id)
        return reply

    async def page(self, key: str, filing_id: str, page: int) -> FilingPage:
        reply: FilingPage = await self._ask("page", key, filing_id, page)
        return reply

    async def page_image(self, key: str, filing_id: str, page: int, marks: Marks, dpi: int) -> bytes:
        image: bytes = await self._ask("page_image", key, filing_id, page, marks, dpi)
        return image

    async def _ask(self, method: str, *arguments: object) -> Any:
        for last in (False, True):
            response = getattr(self._handle, method).remote(*arguments)
            try:
                return await response
            except asyncio.CancelledError:
                response.cancel()
                raise
            except (RayError, BackPressureError) as error:
                if last or not _is_lost(error):
                    raise _as_api_error(error) from error
        raise AssertionError


def _is_lost(error: Exception) -> bool:
    return isinstance(error, RayError) and not isinstance(error, RayTaskError)


def _as_api_error(error: Exception) -> ApiError:
    if isinstance(error, RayTaskError) and isinstance(error.cause, ApiError):
        return error.cause
    if isinstance(error, BackPressureError):
        return ApiError(429, "overloaded", "too many requests are queued; try again", retry_after=1.0)
    if _is_lost(error):
        return ApiError(
            503, "replica_lost", "the replica that handled this request was lost; try again", retry_after=1.0
        )
    return ApiError(500, "internal_error", INTERNAL)


def _outsiders(arguments: ServeArguments, settings: Settings, handles: Handles) -> Outsiders:
    outsiders = dict(outside_of(settings, asks_llm=asks_llm(settings) and arguments.llm is None))
    if "encoder" in handles:
        outsiders["encoder"] = asker(handles["encoder"], "encode")
    if "document_reranker" in handles:
        outsiders["document_reranker"] = asker(handles["document_reranker"], "score")
    if "passage_reranker" in handles:
        outsiders["passage_reranker"] = asker(handles["passage_reranker"], "score")
    if arguments.llm is not None:
        outsiders["chat"] = chat_outside(import_function(arguments.llm.chat)(handles["llm"], settings))
    return outsiders


def import_function(path: str) -> Any:
    """Import the function at ``module:function``."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)

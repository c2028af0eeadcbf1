"""Replicas that answer, and the service of an ingress that has none of its own."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import AsyncGenerator
from typing import Any

from ray import serve
from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import BackPressureError

from finray.api.engines import EngineMaker, engine_maker
from finray.api.errors import INTERNAL, ApiError
from finray.api.events import Event
from finray.api.limits import Capacity
from finray.api.page_images import Mark
from finray.api.service import Asked, AskedRetrieval, LocalService
from finray.core.filing_filter import FilingFilter
from finray.core.settings import RerankerSettings, Settings
from finray.models.chat import ChatModel
from finray.models.encoder import Encoder, encoder_dimension, load_encoder
from finray.models.reranker import Reranker, load_reranker
from serve.config import ServeArguments
from serve.metrics import ray_telemetry
from serve.models import HandleEncoder, HandleReranker

_SWITCH_SECONDS = 0.0005
"""How long a thread that computes may keep the interpreter from the event loop. Python's own 5 ms, several times a
request, make even a refusal slow while questions are answered."""
Handles = dict[str, Any]
"""Handles of other deployments by name: encoder, document_reranker, passage_reranker, llm."""


async def local_service(arguments: ServeArguments, handles: Handles) -> LocalService:
    """The service over engines of this process, which ask the deployments of ``handles`` and load the rest themselves.

    Raises IndexMissingError, IndexMismatchError, ModelUnavailableError.
    """
    settings, loop = arguments.settings(), asyncio.get_running_loop()
    sys.setswitchinterval(_SWITCH_SECONDS)

    def open_service() -> LocalService:
        make = _engine_maker(arguments, settings, handles, loop)
        return LocalService(arguments.index, settings, make, ray_telemetry())

    # In a thread: an encoder behind a handle is asked through this loop.
    return await asyncio.to_thread(open_service)


class Answering:
    """The engine in replicas of its own. Every request is worked on by one replica, on one version of the index."""

    async def __init__(self, arguments: ServeArguments, handles: Handles) -> None:  # type: ignore[misc]
        self._service = await local_service(arguments, handles)
        await self._service.start()

    async def status(self) -> dict[str, Any]:
        return await self._service.status()

    async def answer(self, asked: Asked) -> AsyncGenerator[Event, None]:
        async for event in self._service.answer(asked):
            yield event

    async def retrieve(self, asked: AskedRetrieval) -> dict[str, Any]:
        return await self._service.retrieve(asked)

    async def filings(self, narrowed: FilingFilter, after: str, limit: int) -> dict[str, Any]:
        return await self._service.filings(narrowed, after, limit)

    async def filing(self, filing_id: str) -> dict[str, Any]:
        return await self._service.filing(filing_id)

    async def page(self, filing_id: str, page: int) -> dict[str, Any]:
        return await self._service.page(filing_id, page)

    async def page_image(self, filing_id: str, page: int, marks: tuple[Mark, ...], dpi: int) -> bytes:
        return await self._service.page_image(filing_id, page, marks, dpi)


ANSWERING: Any = serve.deployment(name="answering")(Answering)


class RemoteService:
    """The service over a handle of :class:`Answering`. What was lost with a replica is asked of another once.

    ``capacity`` is what may be open through this ingress: it refuses more by itself, at once, whatever the replicas are
    busy with.
    """

    def __init__(self, handle: Any, capacity: Capacity) -> None:
        self._handle = handle
        self._capacity = capacity
        self._open = 0
        self._stream = handle.options(stream=True)

    async def status(self) -> dict[str, Any]:
        return await self._record("status")

    async def answer(self, asked: Asked) -> AsyncGenerator[Event, None]:
        questions = len(asked.questions)
        self._capacity.check(self._open, questions)
        self._open += questions
        try:
            async for event in self._asked_again(asked):
                if event.name == "answer":
                    self._capacity.took(event.data["prediction"]["seconds"])
                yield event
        finally:
            self._open -= questions

    async def _asked_again(self, asked: Asked) -> AsyncGenerator[Event, None]:
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

    async def retrieve(self, asked: AskedRetrieval) -> dict[str, Any]:
        return await self._record("retrieve", asked)

    async def filings(self, narrowed: FilingFilter, after: str, limit: int) -> dict[str, Any]:
        return await self._record("filings", narrowed, after, limit)

    async def filing(self, filing_id: str) -> dict[str, Any]:
        return await self._record("filing", filing_id)

    async def page(self, filing_id: str, page: int) -> dict[str, Any]:
        return await self._record("page", filing_id, page)

    async def page_image(self, filing_id: str, page: int, marks: tuple[Mark, ...], dpi: int) -> bytes:
        image: bytes = await self._ask("page_image", filing_id, page, marks, dpi)
        return image

    async def _record(self, method: str, *arguments: object) -> dict[str, Any]:
        record: dict[str, Any] = await self._ask(method, *arguments)
        return record

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
        return ApiError(429, "overloaded", "more requests wait than can be served soon; try again", retry_after=1.0)
    if _is_lost(error):
        return ApiError(503, "replica_lost", "the replica that worked on this was lost; try again", retry_after=1.0)
    return ApiError(500, "internal_error", INTERNAL)


def _engine_maker(
    arguments: ServeArguments, settings: Settings, handles: Handles, loop: asyncio.AbstractEventLoop
) -> EngineMaker:
    if "encoder" in handles:
        dimension = encoder_dimension(settings.encoder)
        encoder: Encoder = HandleEncoder(handles["encoder"], settings.encoder, dimension, loop)
    else:
        encoder = load_encoder(settings.encoder, threads=1)
    by_settings = {
        settings.document_reranker: handles.get("document_reranker"),
        settings.passage_reranker: handles.get("passage_reranker"),
    }

    def reranker(chosen: RerankerSettings) -> Reranker:
        handle = by_settings.get(chosen)
        return load_reranker(chosen) if handle is None else HandleReranker(handle, loop)

    def chat() -> ChatModel | None:
        if arguments.llm is None:
            return None
        made: ChatModel = import_function(arguments.llm.chat)(handles["llm"], settings)
        return made

    return engine_maker(encoder, chat, reranker)


def import_function(place: str) -> Any:
    """What ``module:function`` names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)

"""The service behind the routes, and its implementation over local engines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from finray.api.disclosure import START_SECONDS, for_client, without_places
from finray.api.errors import ApiError
from finray.api.events import events_of, query_summary
from finray.api.fair_threads import FairThreads
from finray.api.limits import Capacity
from finray.api.open_index import IndexWatcher, OpenIndex
from finray.api.page_images import Drawing, PageImages
from finray.api.telemetry import QuestionTelemetry, Telemetry
from finray.core.errors import EngineLostError, FinrayError
from finray.core.filing_filter import FilingFilter
from finray.core.journal import Observer, StageReport
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.replies import AnswerEvent, DoneEvent, Ready, Retrieved, ServiceEvent, StartedEvent
from finray.core.settings import Settings
from finray.engine import asks_llm
from finray.engines.outside import NO_OUTSIDERS, Outsiders
from finray.engines.pool import EnginePool, Watch
from finray.engines.questions import IN_FLIGHT_SERVED
from finray.engines.source import OPENING, EngineSource

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[Concatenate[OpenIndex, P], T]
"""A function of ``finray.api.library``."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions of one request. ``stream`` asks for progress events too, ``trace`` for the trace lines of each
    prediction. ``trace_parent`` is the W3C traceparent of the caller's span. Errors are logged with ``request_id``."""

    questions: tuple[Question, ...]
    narrowed: FilingFilter = field(default_factory=FilingFilter)
    stream: bool = False
    trace: bool = False
    trace_parent: str | None = None
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class AskedRetrieval:
    """A question whose filings and passages are wanted, without an answer. Numbers of results default to settings."""

    question: str
    narrowed: FilingFilter = field(default_factory=FilingFilter)
    k_documents: int | None = None
    k_passages: int | None = None
    trace_parent: str | None = None
    request_id: str = ""


class Service(Protocol):
    """The work of the routes. Every method may raise ApiError. ``key`` is the name of the request's API key; the reads
    of different keys take turns."""

    async def status(self) -> Ready:
        """Raises ApiError 503 while the service cannot answer."""
        ...

    def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        """Yield an ``answer`` event for each question when it is answered, then ``done``. Closing it ends the work."""
        ...

    async def retrieve(self, asked: AskedRetrieval) -> Retrieved: ...

    async def read(self, key: str, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of ``work`` on the newest version of the index."""
        ...

    async def page_image(self, key: str, filing_id: str, drawing: Drawing) -> bytes: ...


class LocalService:
    """Answers from the newest version of one index with engines in child processes under a watchdog, so no question can
    take the service down. ``outsiders`` (called on ``outside_loop``) are models that run elsewhere."""

    def __init__(
        self,
        index_uri: str,
        settings: Settings,
        telemetry: Telemetry | None = None,
        *,
        outsiders: Outsiders = NO_OUTSIDERS,
        outside_loop: asyncio.AbstractEventLoop | None = None,
        opening: str = OPENING,
    ) -> None:
        """Raises IndexMissingError, IndexMismatchError."""
        self._settings = settings
        self._telemetry = telemetry or Telemetry()
        serving = settings.serving
        self._reads = FairThreads(
            "reads", serving.read_threads, per_key=serving.max_concurrent, waiting=serving.max_waiting_reads
        )
        self._images = PageImages(settings)
        self._watching: asyncio.Task[None] | None = None
        self._capacity = Capacity(serving.max_in_flight, serving.engines)
        index = OpenIndex.open(index_uri, settings)
        self._engines = EnginePool(
            EngineSource(index_uri, settings, frozenset(outsiders), opening),
            Watch(serving.timeout_s, "serving.timeout_s", serving.grace_s),
            processes=serving.engines,
            in_flight=serving.max_in_flight if asks_llm(settings) else IN_FLIGHT_SERVED if outsiders else 1,
            tables=index.tables,
            outsiders=outsiders,
            outside_loop=outside_loop,
        )
        self._watcher = IndexWatcher(index_uri, settings, index, self._engines.open, self._engines.drop)

    @property
    def index(self) -> OpenIndex:
        """The version for new requests."""
        return self._watcher.current

    async def ready(self) -> None:
        """Wait until an engine can answer. Raises FinrayError if none can, such as ModelUnavailableError."""
        await self._engines.ready()

    def wait_until_ready(self) -> None:
        """Blocking version of ``ready``."""
        self._engines.wait_until_ready()

    async def start(self) -> None:
        """Start looking for new versions of the index."""
        self._watching = asyncio.create_task(self._watcher.watch())

    async def look(self) -> bool:
        """Look for a new version now. Returns whether one is in use."""
        return await self._watcher.look()

    async def stop(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """End the engines."""
        self._engines.close()
        self._reads.close()
        self._images.close()

    async def status(self) -> Ready:
        if not self._engines.pids:
            raise ApiError(503, "not_ready", "the engine is starting; try again", retry_after=START_SECONDS)
        index = self.index
        return Ready(index.version, len(index.filings), self._settings.answer_hash())

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        with self._capacity.admit(len(asked.questions)):
            index, started = self.index, time.perf_counter()
            events: asyncio.Queue[ServiceEvent | None] = asyncio.Queue()
            tasks = [asyncio.create_task(self._answer(question, asked, index, events)) for question in asked.questions]
            everyone = asyncio.gather(*tasks)
            everyone.add_done_callback(lambda _: events.put_nowait(None))
            try:
                if asked.stream:
                    yield StartedEvent(index.version, asked.questions)
                while (event := await events.get()) is not None:
                    yield event
                await everyone
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, everyone, return_exceptions=True)
        yield DoneEvent(index.version, time.perf_counter() - started)

    async def retrieve(self, asked: AskedRetrieval) -> Retrieved:
        with self._capacity.admit(1), self._traced(asked, "retrieve") as span:
            index, started = self.index, time.perf_counter()
            query, documents, passages = await self._engines.retrieve(
                asked.question,
                span.stage,
                tables=index.tables,
                narrowed=asked.narrowed,
                k_documents=asked.k_documents,
                k_passages=asked.k_passages,
            )
            span.end("retrieved", {})
        return Retrieved(
            index.version,
            asked.question,
            query_summary(query),
            tuple(document.ref for document in documents),
            tuple(passages),
            time.perf_counter() - started,
        )

    async def read(self, key: str, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._reads.run(key, partial(work, self.index, *args, **kwargs))

    async def page_image(self, key: str, filing_id: str, drawing: Drawing) -> bytes:
        return await self._images.png(key, self.index, filing_id, drawing)

    @contextmanager
    def _traced(self, asked: Asked | AskedRetrieval, operation: str) -> Iterator[QuestionTelemetry]:
        """Telemetry of a question, ended if the block fails, even by a bug: every question that began ends."""
        span = self._telemetry.question(asked.trace_parent, operation)
        try:
            yield span
        except FinrayError as error:
            span.end("error", {})
            raise for_client(error, asked.request_id) from error
        except BaseException:
            span.end("cancelled", {})
            raise

    async def _answer(
        self, question: Question, asked: Asked, index: OpenIndex, events: asyncio.Queue[ServiceEvent | None]
    ) -> None:
        with self._traced(asked, "answer") as span:

            def observe(report: StageReport) -> None:
                span.stage(report)
                if asked.stream:
                    for event in events_of(question.qid, report):
                        events.put_nowait(event)

            prediction = await self._predict(question, observe, index, asked.narrowed)
            span.end(prediction.status, dict(prediction.usage))
        self._capacity.took(prediction.seconds)
        shown = without_places(prediction if asked.trace else replace(prediction, trace=()), asked.request_id)
        events.put_nowait(AnswerEvent(question.qid, index.version, shown))

    async def _predict(
        self, question: Question, observer: Observer, index: OpenIndex, narrowed: FilingFilter
    ) -> Prediction:
        """The prediction; its status is "error" if the question crashes every engine, as if a role had failed."""
        try:
            return await self._engines.answer(question, observer, tables=index.tables, narrowed=narrowed)
        except EngineLostError as error:
            return Prediction.of_failure(question, error, self._settings.answer_hash())


async def one_answer(service: Service, asked: Asked) -> AnswerEvent:
    """The answer to the only question of ``asked``. Raises ApiError."""
    async with aclosing(service.answer(asked)) as events:
        async for event in events:
            if isinstance(event, AnswerEvent):
                return event
    raise ApiError(503, "no_answer", "the service ended before it answered")


def check_answered(prediction: Prediction) -> None:
    """Raises ApiError 500 if the question failed."""
    if prediction.status == "error":
        raise ApiError(500, "question_failed", prediction.error or "the question could not be processed")

"""What the routes ask for, and the service that does it in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from finray.api.disclosure import for_client, without_places
from finray.api.engines import EngineMaker, EngineThreads, IndexWatcher, OpenIndex, Ticket
from finray.api.events import events_of, query_summary
from finray.api.fair_threads import FairThreads
from finray.api.library import filing_page, filing_record, filings_record
from finray.api.limits import Capacity
from finray.api.page_images import Marks, PageImages
from finray.api.telemetry import NoTelemetry, Telemetry
from finray.core.errors import FinrayError
from finray.core.filing_filter import FilingFilter
from finray.core.journal import StageReport
from finray.core.replies import (
    AnswerEvent,
    DoneEvent,
    FilingDetail,
    FilingList,
    FilingPage,
    Ready,
    Retrieved,
    ServiceEvent,
    StartedEvent,
)
from finray.core.settings import Settings
from finray.core.types import Prediction, Question


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions of one request. ``stream`` asks for the events on the way, not for the answers alone, ``trace`` for the
    trace lines of each prediction. ``trace_parent`` is the W3C traceparent of the caller's span; under ``request_id``
    the log has what went wrong."""

    questions: tuple[Question, ...]
    narrowed: FilingFilter = field(default_factory=FilingFilter)
    stream: bool = False
    trace: bool = False
    trace_parent: str | None = None
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class AskedRetrieval:
    question: str
    narrowed: FilingFilter = field(default_factory=FilingFilter)
    k_documents: int | None = None
    k_passages: int | None = None
    trace_parent: str | None = None
    request_id: str = ""


class Service(Protocol):
    """Everything behind the routes. Every method may raise ApiError. ``key`` is the name of the API key that reads:
    keys take turns."""

    async def status(self) -> Ready:
        """Raises ApiError 503 while the service cannot answer."""
        ...

    def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        """Events; an ``answer`` for each question as it is done, and ``done`` at the end. Closing it ends the work."""
        ...

    async def retrieve(self, asked: AskedRetrieval) -> Retrieved: ...

    async def filings(self, key: str, narrowed: FilingFilter, after: str, limit: int) -> FilingList: ...

    async def filing(self, key: str, filing_id: str) -> FilingDetail: ...

    async def page(self, key: str, filing_id: str, page: int) -> FilingPage: ...

    async def page_image(self, key: str, filing_id: str, page: int, marks: Marks, dpi: int) -> bytes: ...


class LocalService:
    """Answers in this process, over the newest version of one index."""

    def __init__(
        self, index_uri: str, settings: Settings, make: EngineMaker, telemetry: Telemetry | None = None
    ) -> None:
        """Raises IndexMissingError, IndexMismatchError, ModelUnavailableError."""
        self._settings = settings
        self._telemetry = telemetry or NoTelemetry()
        self._watcher = IndexWatcher(index_uri, settings, make)
        self._threads = EngineThreads(settings.serving.threads)
        serving = settings.serving
        self._reads = FairThreads(
            "reads", serving.read_threads, per_key=serving.max_concurrent, waiting=serving.max_waiting_reads
        )
        self._images = PageImages(settings)
        self._watching: asyncio.Task[None] | None = None
        self._capacity = Capacity(settings.serving.max_in_flight, settings.serving.threads)

    @property
    def index(self) -> OpenIndex:
        """The version that a request that begins now sees."""
        return self._watcher.current

    async def start(self) -> None:
        """Look for new versions of the index from now on."""
        self._watching = asyncio.create_task(self._watcher.watch())

    async def look(self) -> bool:
        """Look for a new version now; whether one was taken."""
        return await self._watcher.look()

    async def stop(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
        self._threads.close()
        self._reads.close()
        self._images.close()

    async def status(self) -> Ready:
        index = self.index
        return Ready(index.version, len(index.filings), self._settings.answer_hash())

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        self._capacity.check(self._threads.busy, len(asked.questions))
        index, started = self.index, time.perf_counter()
        if asked.stream:
            yield StartedEvent(index.version, asked.questions)
        loop, ticket = asyncio.get_running_loop(), Ticket()
        events: asyncio.Queue[ServiceEvent | None] = asyncio.Queue()

        def tell(event: ServiceEvent) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)

        tasks = [asyncio.create_task(self._answer(q, asked, index, ticket, tell)) for q in asked.questions]
        everyone = asyncio.gather(*tasks)
        everyone.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            await everyone
        finally:
            ticket.give_up()
            everyone.cancel()
            with suppress(asyncio.CancelledError, FinrayError):
                await everyone
        yield DoneEvent(index.version, time.perf_counter() - started)

    async def retrieve(self, asked: AskedRetrieval) -> Retrieved:
        self._capacity.check(self._threads.busy, 1)
        index, started = self.index, time.perf_counter()
        span = self._telemetry.question(asked.trace_parent, "retrieve")
        ticket = Ticket()
        try:
            query, documents, passages = await self._threads.run(
                ticket,
                lambda thread: index.engines[thread].retrieve(
                    asked.question,
                    ticket.observer(span.stage),
                    asked.narrowed,
                    k_documents=asked.k_documents,
                    k_passages=asked.k_passages,
                ),
            )
        except FinrayError as error:
            span.end("error", {})
            raise for_client(error, asked.request_id) from error
        except BaseException:
            span.end("cancelled", {})
            raise
        span.end("retrieved", {})
        return Retrieved(
            index.version,
            asked.question,
            query_summary(query),
            tuple(document.ref for document in documents),
            tuple(passages),
            time.perf_counter() - started,
        )

    async def filings(self, key: str, narrowed: FilingFilter, after: str, limit: int) -> FilingList:
        index = self.index
        return await self._reads.run(key, lambda: filings_record(index, narrowed, after, limit))

    async def filing(self, key: str, filing_id: str) -> FilingDetail:
        index = self.index
        return await self._reads.run(key, lambda: filing_record(index, filing_id))

    async def page(self, key: str, filing_id: str, page: int) -> FilingPage:
        index = self.index
        return await self._reads.run(key, lambda: filing_page(index, filing_id, page))

    async def page_image(self, key: str, filing_id: str, page: int, marks: Marks, dpi: int) -> bytes:
        return await self._images.png(key, self.index, filing_id, page, marks, dpi)

    async def _answer(
        self, question: Question, asked: Asked, index: OpenIndex, ticket: Ticket, tell: Callable[[ServiceEvent], None]
    ) -> None:
        span = self._telemetry.question(asked.trace_parent, "answer")

        def observe(report: StageReport) -> None:
            span.stage(report)
            if asked.stream:
                for event in events_of(question.qid, report):
                    tell(event)

        def work(thread: int) -> Awaitable[Prediction]:
            return index.engines[thread].answer(question, ticket.observer(observe), asked.narrowed)

        try:
            prediction = await self._threads.run(ticket, work)
        except BaseException:  # also a bug: what has begun must end in the metrics
            span.end("cancelled", {})
            raise
        self._capacity.took(prediction.seconds)
        span.end(prediction.status, dict(prediction.usage))
        shown = without_places(prediction if asked.trace else replace(prediction, trace=()), asked.request_id)
        tell(AnswerEvent(question.qid, index.version, shown))

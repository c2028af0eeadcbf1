"""What the routes ask for, and the service that does it in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from finray.api.engines import EngineMaker, EngineThreads, IndexWatcher, OpenIndex, Ticket
from finray.api.errors import ApiError
from finray.api.events import Event, events_of, query_record
from finray.api.library import filing_page, filing_record, filings_record, pages_of
from finray.api.limits import Capacity
from finray.api.page_images import Mark, PageImages
from finray.api.telemetry import NoTelemetry, Telemetry
from finray.batch.predictions import document_record, passage_record, prediction_record
from finray.core.errors import FinrayError, ModelError, QuestionError
from finray.core.filing_filter import FilingFilter
from finray.core.journal import StageReport
from finray.core.settings import Settings
from finray.core.types import Prediction, Question


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions of one request. ``stream`` asks for the events on the way, not for the answers alone, ``trace`` for the
    trace lines of each prediction. ``trace_parent`` is the W3C traceparent of the caller's span."""

    questions: tuple[Question, ...]
    narrowed: FilingFilter = field(default_factory=FilingFilter)
    stream: bool = False
    trace: bool = False
    trace_parent: str | None = None


@dataclass(frozen=True, slots=True)
class AskedRetrieval:
    question: str
    narrowed: FilingFilter = field(default_factory=FilingFilter)
    k_documents: int | None = None
    k_passages: int | None = None
    trace_parent: str | None = None


class Service(Protocol):
    """Everything behind the routes. Records are JSON objects as docs/openapi.json describes them; every method may
    raise ApiError."""

    async def status(self) -> dict[str, Any]:
        """``{index_version, filings, settings_hash}``. Raises ApiError 503 while the service cannot answer."""
        ...

    def answer(self, asked: Asked) -> AsyncGenerator[Event, None]:
        """Events; an ``answer`` for each question as it is done, and ``done`` at the end. Closing it ends the work."""
        ...

    async def retrieve(self, asked: AskedRetrieval) -> dict[str, Any]: ...

    async def filings(self, narrowed: FilingFilter, after: str, limit: int) -> dict[str, Any]: ...

    async def filing(self, filing_id: str) -> dict[str, Any]: ...

    async def page(self, filing_id: str, page: int) -> dict[str, Any]: ...

    async def page_image(self, filing_id: str, page: int, marks: tuple[Mark, ...], dpi: int) -> bytes: ...


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
        self._images.close()

    async def status(self) -> dict[str, Any]:
        index = self.index
        return {
            "index_version": index.version,
            "filings": len(index.filings),
            "settings_hash": self._settings.answer_hash(),
        }

    async def answer(self, asked: Asked) -> AsyncGenerator[Event, None]:
        self._capacity.check(self._threads.busy, len(asked.questions))
        index, started = self.index, time.perf_counter()
        if asked.stream:
            questions = [{"qid": question.qid, "question": question.question} for question in asked.questions]
            yield Event("started", {"index_version": index.version, "questions": questions})
        loop, ticket = asyncio.get_running_loop(), Ticket()
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        def tell(event: Event) -> None:
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
        yield Event("done", {"index_version": index.version, "seconds": time.perf_counter() - started})

    async def retrieve(self, asked: AskedRetrieval) -> dict[str, Any]:
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
            raise _failed(error) from error
        except BaseException:
            span.end("cancelled", {})
            raise
        span.end("retrieved", {})
        return {
            "index_version": index.version,
            "question": asked.question,
            "query": query_record(query),
            "documents": [document_record(document) for document in documents],
            "passages": [passage_record(passage) for passage in passages],
            "seconds": time.perf_counter() - started,
        }

    async def filings(self, narrowed: FilingFilter, after: str, limit: int) -> dict[str, Any]:
        return filings_record(self.index, narrowed, after, limit)

    async def filing(self, filing_id: str) -> dict[str, Any]:
        index = self.index
        return filing_record(index, filing_id, await asyncio.to_thread(pages_of, index, filing_id))

    async def page(self, filing_id: str, page: int) -> dict[str, Any]:
        return await asyncio.to_thread(filing_page, self.index, filing_id, page)

    async def page_image(self, filing_id: str, page: int, marks: tuple[Mark, ...], dpi: int) -> bytes:
        return await asyncio.to_thread(self._images.png, self.index, filing_id, page, marks, dpi)

    async def _answer(
        self, question: Question, asked: Asked, index: OpenIndex, ticket: Ticket, tell: Callable[[Event], None]
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
        record = prediction_record(prediction)
        if not asked.trace:
            record.pop("trace", None)
        tell(Event("answer", {"qid": question.qid, "index_version": index.version, "prediction": record}))


def _failed(error: FinrayError) -> ApiError:
    if isinstance(error, QuestionError):
        return ApiError(422, "invalid_question", str(error), param="question")
    if isinstance(error, ModelError):
        return ApiError(503, "model_unavailable", "a model that this service needs cannot be reached; try again later")
    return ApiError(500, "internal_error", "the question could not be worked on; see the service's log")

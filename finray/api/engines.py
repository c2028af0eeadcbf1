"""Engines that answer while the event loop of HTTP stays free: each in a thread of its own, with its own loop.

Answering by rules computes without a pause; on the loop that serves HTTP it would hold up every other request.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from finray.api.catalog import Catalog
from finray.core.errors import FinrayError
from finray.core.journal import Observer, StageReport
from finray.core.settings import Settings
from finray.core.types import Filing
from finray.engine import Engine, build_engine
from finray.index.layout import open_table
from finray.index.reader import IndexReader
from finray.index.schema import CHILDREN, FILINGS
from finray.models.chat import ChatModel
from finray.models.encoder import Encoder
from finray.models.reranker import RerankerLoader, load_reranker
from finray.storage.locations import STORAGE_ERRORS

_log = logging.getLogger(__name__)
T = TypeVar("T")
_LOOK_ERRORS: tuple[type[Exception], ...] = (FinrayError, *STORAGE_ERRORS, ValueError, RuntimeError)
"""The last two are Lance's."""
EngineMaker = Callable[[IndexReader, Settings], Engine]


@dataclass(frozen=True)
class OpenIndex:
    """One version of the index: a reader, and an engine for each thread. A request holds on to one of these."""

    version: str
    reader: IndexReader
    engines: tuple[Engine, ...]
    filings: dict[str, Filing] = field(repr=False)
    catalog: Catalog = field(repr=False)

    @classmethod
    def open(cls, uri: str, settings: Settings, make: EngineMaker) -> OpenIndex:
        """Raises IndexMissingError, IndexMismatchError, ModelUnavailableError."""
        reader = IndexReader.open(uri, settings)
        engines = tuple(make(reader, settings) for _ in range(settings.serving.threads))
        filings = {filing.filing_id: filing for filing in reader.filings()}
        catalog = Catalog(filings, reader.row_counts("pages"))
        return cls(version_name(dict(reader.versions)), reader, engines, filings, catalog)


def version_name(tables: dict[str, int]) -> str:
    """Such as ``12.40.40.40``: the versions of filings, pages, chunks and facts."""
    return ".".join(str(tables[name]) for name in (FILINGS, *CHILDREN))


def latest_version(uri: str) -> str:
    """The version that opening ``uri`` now would show. Raises IndexMissingError."""
    return version_name({name: int(open_table(uri, name).version) for name in (FILINGS, *CHILDREN)})


def engine_maker(
    encoder: Encoder, chat: Callable[[], ChatModel | None] = lambda: None, rerankers: RerankerLoader = load_reranker
) -> EngineMaker:
    """How to build engines that share ``encoder``; each has its own chat model, as each has its own event loop."""
    return lambda reader, settings: build_engine(reader, settings, encoder=encoder, chat=chat(), rerankers=rerankers)


class Ticket:
    """Says to the thread that works on a request whether anybody still waits for it."""

    def __init__(self) -> None:
        self._given_up = threading.Event()

    def give_up(self) -> None:
        self._given_up.set()

    def check(self) -> None:
        """Raises CancelledError once given up."""
        if self._given_up.is_set():
            raise asyncio.CancelledError

    def observer(self, inner: Observer | None = None) -> Observer:
        """Checks at every stage, then tells ``inner``."""

        def observe(report: StageReport) -> None:
            self.check()
            if inner is not None:
                inner(report)

        return observe


class EngineThreads:
    """Threads that run coroutines of engines, the least busy first."""

    def __init__(self, threads: int) -> None:
        self._loops = [_loop_thread(number) for number in range(threads)]
        self._busy = [0] * threads
        self._lock = threading.Lock()

    @property
    def busy(self) -> int:
        """How many coroutines are under way or wait."""
        return sum(self._busy)

    async def run(self, ticket: Ticket, work: Callable[[int], Awaitable[T]]) -> T:
        """The result of ``work(thread)`` on a thread. Cancelling the caller gives ``ticket`` up."""
        with self._lock:
            number = min(range(len(self._loops)), key=self._busy.__getitem__)
            self._busy[number] += 1

        async def begin() -> T:
            ticket.check()
            return await work(number)

        future = asyncio.run_coroutine_threadsafe(begin(), self._loops[number])
        future.add_done_callback(lambda _: self._done(number))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            ticket.give_up()
            raise

    def close(self) -> None:
        for loop in self._loops:
            loop.call_soon_threadsafe(loop.stop)

    def _done(self, number: int) -> None:
        with self._lock:
            self._busy[number] -= 1


class IndexWatcher:
    """Keeps the newest version of an index open.

    A new version is opened beside the old one and takes its place in one step; requests that began on the old one end
    on it. A version is taken once it has stood still for one look: an index job commits every few seconds.
    """

    def __init__(self, uri: str, settings: Settings, make: EngineMaker) -> None:
        self._uri, self._settings, self._make = uri, settings, make
        self._seen = ""
        self.current = OpenIndex.open(uri, settings, make)

    async def watch(self) -> None:
        """Runs until cancelled. What goes wrong is logged, and the version in hand is kept."""
        while True:
            await asyncio.sleep(self._settings.serving.watch_seconds)
            try:
                await self.look()
            except _LOOK_ERRORS:
                _log.exception("cannot look for a new version of the index at %r", self._uri)

    async def look(self) -> bool:
        """Look once; whether another version was taken."""
        latest = await asyncio.to_thread(latest_version, self._uri)
        still, self._seen = latest == self._seen, latest
        if latest == self.current.version or not still:
            return False
        self.current = await asyncio.to_thread(OpenIndex.open, self._uri, self._settings, self._make)
        _log.info("index version %s is in use, %d filings", self.current.version, len(self.current.filings))
        return True


def _loop_thread(number: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_forever()
        loop.close()

    threading.Thread(target=run, name=f"engine-{number}", daemon=True).start()
    return loop

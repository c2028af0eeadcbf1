"""A pool of engine processes with a watchdog, callable from any thread and event loop."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from finray.core.errors import EngineLostError, EngineUnavailableError, FinrayError, QuestionTimeoutError
from finray.core.journal import Observer
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.engines.messages import Ask, settle
from finray.engines.outside import NO_OUTSIDERS, Outsiders
from finray.engines.process import EngineProcess, Request
from finray.engines.source import EngineSource, Tables

_log = logging.getLogger(__name__)
_BLAME: Final = 3
"""Losses for the question that was computing when a child ended; the child's other questions get one."""
_MAX_LOSSES: Final = 5
"""Allows one blame, which may be the system's fault, but not two."""
_MAX_FAILED_STARTS: Final = 3
"""After this many failed starts in a row, waiting questions fail."""
_PAUSE_SECONDS: Final = (0.5, 30.0)
"""The pause after the first failed start, doubled for each further one, and the longest pause."""
_CLOSED: Final = "the engines were closed"


@dataclass(frozen=True, slots=True)
class Watch:
    """A question may take ``seconds`` once a child works on it; ``setting`` names the source of that limit. Then it has
    ``grace_seconds`` to stop by itself, because stages are not interrupted."""

    seconds: float
    setting: str
    grace_seconds: float


@dataclass(eq=False, slots=True)
class _Slot:
    """Holds one child at a time; ``problem`` is why the last one did not start."""

    child: EngineProcess | None = None
    problem: FinrayError | None = None

    def vacate(self) -> None:
        self.child = None


class EnginePool:
    """``processes`` children, each working on at most ``in_flight`` questions at a time; the rest queue here.

    Rule-based engines compute all the time, so each should have one question at a time; engines that call a language
    model mostly wait and can have many. ``outsiders`` are called on ``outside_loop``, by default the pool's own loop.
    ``tables`` is the version of the index that children open when they start.
    """

    def __init__(
        self,
        source: EngineSource,
        watch: Watch,
        *,
        processes: int = 1,
        in_flight: int = 1,
        tables: Tables | None = None,
        outsiders: Outsiders = NO_OUTSIDERS,
        outside_loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._source, self._watch, self._in_flight, self._tables = source, watch, in_flight, tables
        self._outsiders, self._outside_loop = outsiders, outside_loop
        self._slots = [_Slot() for _ in range(processes)]
        self._waiting: deque[Request] = deque()
        self._numbers = itertools.count()
        self._requests: set[Request] = set()
        self._closed = False
        self._lock = threading.Lock()  # for the two above
        self._up: Future[None] = Future()
        self._runner = asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)
        self._loop = self._runner.get_loop()
        self._supervisor: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="engines", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> int:
        """Number of questions that wait or run, including abandoned ones that have not ended yet."""
        return len(self._requests)

    @property
    def pids(self) -> list[int]:
        """The process ids of the children that are ready for questions."""
        return [child.pid for child in self._children]

    @property
    def _children(self) -> list[EngineProcess]:
        return [slot.child for slot in self._slots if slot.child is not None]

    def wait_until_ready(self) -> None:
        """Wait until a child has opened the index. Raises the FinrayError that prevents it."""
        self._up.result()

    async def ready(self) -> None:
        """Like :meth:`wait_until_ready`."""
        await asyncio.shield(asyncio.wrap_future(self._up))

    async def answer(
        self, question: Question, observer: Observer | None = None, *, tables: Tables | None = None, **options: Any
    ) -> Prediction:
        """See :meth:`finray.engine.Engine.answer`; ``tables`` selects a version of the index.

        ``observer`` is called on the caller's event loop, and again from the first stage if the question is retried.
        Raises QuestionTimeoutError, EngineLostError, the FinrayError that prevents children from starting, and the
        engine's own errors with their traceback as a note. Canceling it ends the work.
        """
        return cast(Prediction, await self._ask("answer", {"question": question, **options}, tables, observer))

    async def retrieve(
        self, question: str, observer: Observer | None = None, *, tables: Tables | None = None, **options: Any
    ) -> Any:
        """See :meth:`finray.engine.Engine.retrieve` and :meth:`answer`."""
        return await self._ask("retrieve", {"question": question, **options}, tables, observer)

    async def open(self, tables: Tables) -> None:
        """Open this version of the index in every child, in addition to open versions. Raises FinrayError."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._open(tables), self._loop))

    def drop(self, tables: Tables) -> None:
        """Close this version of the index; no further question uses it."""
        self._soon(self._drop, tables)

    def close(self) -> None:
        """End the children. Open requests fail with EngineUnavailableError."""
        with self._lock:
            self._closed = True
        self._soon(self._stop)
        self._thread.join()

    async def _ask(
        self,
        method: Literal["answer", "retrieve"],
        arguments: dict[str, Any],
        tables: Tables | None,
        observer: Observer | None,
    ) -> Any:
        with self._lock:
            if self._closed:
                raise EngineUnavailableError(_CLOSED)
            message = Ask(next(self._numbers), tables, method, arguments, reports=observer is not None)
            request = Request(message, observer, asyncio.get_running_loop(), self._forget)
            self._requests.add(request)
        self._soon(self._take, request)
        try:
            return await asyncio.wrap_future(request.outcome)
        except asyncio.CancelledError:
            self._soon(self._give_up, request)
            raise

    def _soon(self, function: Callable[..., None], *arguments: object) -> None:
        with suppress(RuntimeError):  # closed
            self._loop.call_soon_threadsafe(function, *arguments)

    def _forget(self, request: Request) -> None:
        with self._lock:
            self._requests.discard(request)

    # Everything below runs in the pool's thread, on its loop.

    def _run(self) -> None:
        try:
            with self._runner, suppress(asyncio.CancelledError):
                self._runner.run(self._supervise_all())
        finally:
            with self._lock:
                self._closed = True
            closed = EngineUnavailableError(_CLOSED)
            settle(self._up, error=closed)
            for request in tuple(self._requests):
                request.end(error=closed)

    async def _supervise_all(self) -> None:
        self._supervisor = asyncio.current_task()
        if self._closed:
            return
        async with asyncio.TaskGroup() as group:
            for slot in self._slots:
                group.create_task(self._supervise(slot))

    def _stop(self) -> None:
        if self._supervisor is not None:
            self._supervisor.cancel()

    async def _supervise(self, slot: _Slot) -> None:
        """Run one child after another in this slot."""
        failed = 0
        while True:
            try:
                await self._run_child(slot)
                failed = 0
            except EngineUnavailableError as error:
                failed += 1
                slot.problem = error if failed >= _MAX_FAILED_STARTS else None
            except FinrayError as error:
                failed, slot.problem = failed + 1, error
            if failed:
                self._fail_waiting()
                shortest, longest = _PAUSE_SECONDS
                await asyncio.sleep(min(longest, shortest * 2 ** (failed - 1)))

    async def _run_child(self, slot: _Slot) -> None:
        """Run one child until it ends. Raises FinrayError if it does not start."""
        try:
            child = await EngineProcess.start(self._source, self._outsiders, self._outside_loop)
        except OSError as error:
            raise EngineUnavailableError(f"the engine process does not start: {error}") from error
        listening = asyncio.create_task(child.listen(self._dispatch))
        listening.add_done_callback(lambda _: slot.vacate())
        try:
            await child.open(self._tables)
            slot.child, slot.problem = child, None
            settle(self._up)
            self._dispatch()
            await asyncio.wait([listening])
            if listening.exception() is not None:
                _log.error("engine process %d sent an unreadable message", child.pid, exc_info=listening.exception())
        finally:
            slot.vacate()
            listening.cancel()
            self._requeue(child, await child.end())

    async def _open(self, tables: Tables) -> None:
        results = await asyncio.gather(*(child.open(tables) for child in self._children), return_exceptions=True)
        for problem in results:
            # The successor of a child that ended meanwhile opens the current version.
            if isinstance(problem, BaseException) and not isinstance(problem, EngineUnavailableError):
                self._drop(tables)
                raise problem
        self._tables = tables

    def _drop(self, tables: Tables) -> None:
        for child in self._children:
            child.drop(tables)

    def _take(self, request: Request) -> None:
        self._waiting.append(request)
        self._dispatch()
        self._fail_waiting()

    def _dispatch(self) -> None:
        """Give waiting requests to children with capacity, the least busy first."""
        while self._waiting:
            child = min(self._children, key=lambda child: len(child.requests), default=None)
            if child is None or len(child.requests) >= self._in_flight:
                return
            request = self._waiting.popleft()
            child.ask(request)
            request.set_timer(self._loop.call_later(self._watch.seconds, self._overdue, request, child))

    def _overdue(self, request: Request, child: EngineProcess) -> None:
        if child.is_held_up(request, self._watch.grace_seconds):  # another question used up its time
            request.set_timer(self._loop.call_later(self._watch.seconds, self._overdue, request, child))
            return
        limit = f"{self._watch.seconds:g} s ({self._watch.setting})"
        _log.warning("a question was not answered after %s", limit)
        settle(request.outcome, error=QuestionTimeoutError(f"not answered after {limit}"))
        self._give_up(request)

    def _give_up(self, request: Request) -> None:
        """Stop the work on a request whose caller no longer waits."""
        if request.given_up:
            return
        request.given_up = True
        if request in self._waiting:
            self._waiting.remove(request)
            request.end()
        for slot in self._slots:
            if slot.child is not None and request.number in slot.child.requests:
                slot.child.cancel(request)
                request.set_timer(self._loop.call_later(self._watch.grace_seconds, self._kill_stuck, slot, slot.child))

    def _kill_stuck(self, slot: _Slot, child: EngineProcess) -> None:
        if slot.child is child:
            slot.vacate()
            grace = self._watch.grace_seconds
            _log.error("killing engine process %d, not stopped after %g s; see its standard error", child.pid, grace)
            child.kill()

    def _requeue(self, child: EngineProcess, ending: str) -> None:
        """Put the requests of a child that has ended at the front of the queue."""
        for number, request in reversed(child.requests.items()):
            request.losses += _BLAME if number == child.computing else 1
            if request.given_up:
                request.end()
            elif request.losses > _MAX_LOSSES:
                request.end(error=EngineLostError(f"each process that worked on it ended ({ending})"))
            else:
                request.set_timer(None)
                self._waiting.appendleft(request)
        child.requests.clear()
        self._dispatch()

    def _fail_waiting(self) -> None:
        """Fail the waiting requests if no child can start."""
        problem = self._slots[0].problem
        if problem is None or self.pids or not all(slot.problem for slot in self._slots):
            return
        settle(self._up, error=problem)
        while self._waiting:
            self._waiting.popleft().end(error=problem)

"""Engines that are asked from any thread and event loop, and the watchdog over them."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from finray.core.errors import EngineLostError, EngineUnavailableError, FinrayError, QuestionTimeoutError
from finray.core.journal import Observer
from finray.core.types import Prediction, Question
from finray.engines.asked import Asked
from finray.engines.messages import Ask
from finray.engines.outside import Outsiders
from finray.engines.process import EngineProcess
from finray.engines.source import EngineSource, Tables

_log = logging.getLogger(__name__)
_BLAME: Final = 3
"""What it counts to have been the one that computed when a child ended; to have been there counts one."""
_MOST_LOSSES: Final = 5
"""So after two blames, for the first may have been the system's doing, a question is not asked again."""
_STARTS: Final = 3
"""Children in a row that end before they are up, after which none is waited for."""
_PAUSE_SECONDS: Final = (0.5, 30.0)
"""After the first start that failed, doubled for each further one; and the longest."""
_CLOSED: Final = "the engines were closed"
_NO_OUTSIDERS: Final[Outsiders] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Watch:
    """A question may take ``seconds`` once it is worked on; ``setting`` says where that limit comes from. One that is
    given up has ``grace_seconds`` to stop by itself: stages are not interrupted."""

    seconds: float
    setting: str
    grace_seconds: float


@dataclass(eq=False, slots=True)
class _Seat:
    """The place of one child; when it ends, another takes it. ``problem`` is why the last one did not come up."""

    child: EngineProcess | None = None
    problem: FinrayError | None = None


class EnginePool:
    """``processes`` children, each working on at most ``in_flight`` questions at a time; the rest wait here, in order.

    Engines by rules compute all the time, so one question at a time each is right for them; engines that ask a
    language model wait, and work on many. ``outsiders`` are called on ``outside_loop``, for None on a loop of the pool.
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
        outsiders: Outsiders = _NO_OUTSIDERS,
        outside_loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._source, self._watch, self._in_flight, self._tables = source, watch, in_flight, tables
        self._outsiders, self._outside_loop = outsiders, outside_loop
        self._seats = [_Seat() for _ in range(processes)]
        self._waiting: deque[Asked] = deque()
        self._numbers = itertools.count()
        self._asked: set[Asked] = set()
        self._closed = False
        self._lock = threading.Lock()
        """For the two above."""
        self._up: Future[None] = Future()
        self._runner = asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)
        self._loop = self._runner.get_loop()
        self._keeping: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="engines", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> int:
        """Questions that are worked on or wait, those that were given up and have not ended yet included."""
        return len(self._asked)

    @property
    def pids(self) -> list[int]:
        """Of the children that are ready for questions."""
        return [seat.child.pid for seat in self._seats if seat.child is not None]

    def wait_until_ready(self) -> None:
        """Until the first child has opened the index. Raises the FinrayError that keeps them from it."""
        self._up.result()

    async def ready(self) -> None:
        """As ``wait_until_ready``."""
        await asyncio.shield(asyncio.wrap_future(self._up))

    async def answer(
        self, question: Question, observer: Observer | None = None, *, tables: Tables | None = None, **options: Any
    ) -> Prediction:
        """See :meth:`finray.engine.Engine.answer`; with ``tables`` over this version of the index.

        ``observer`` is called on the event loop of the caller, and from the first stage again where the question is
        asked again. Raises QuestionTimeoutError, EngineLostError, the FinrayError that keeps children from coming up,
        and what the engine raised, with its traceback as a note. Cancelled, it has the work ended.
        """
        prediction: Prediction = await self._ask("answer", {"question": question, **options}, tables, observer)
        return prediction

    async def retrieve(
        self, question: str, observer: Observer | None = None, *, tables: Tables | None = None, **options: Any
    ) -> Any:
        """See :meth:`finray.engine.Engine.retrieve`, and ``answer`` here. Documents that nobody chose are none."""
        return await self._ask("retrieve", {"question": question, **options}, tables, observer)

    async def open(self, tables: Tables) -> None:
        """Have every child open this version of the index, beside those it has. Raises FinrayError."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._open(tables), self._loop))

    def drop(self, tables: Tables) -> None:
        """Nobody will ask this version any more."""
        self._soon(self._drop, tables)

    def close(self) -> None:
        """End the children. What is asked ends with EngineUnavailableError."""
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
            message = Ask(next(self._numbers), tables, method, arguments)
            asked = Asked(message, observer, asyncio.get_running_loop(), self._ended)
            self._asked.add(asked)
        self._soon(self._take, asked)
        try:
            return await asyncio.wrap_future(asked.outcome)
        except asyncio.CancelledError:
            self._soon(self._give_up, asked)
            raise

    def _soon(self, function: Callable[..., None], *arguments: object) -> None:
        with suppress(RuntimeError):  # closed
            self._loop.call_soon_threadsafe(function, *arguments)

    def _ended(self, asked: Asked) -> None:
        with self._lock:
            self._asked.discard(asked)

    # From here on everything happens in the pool's thread, on its loop.

    def _run(self) -> None:
        try:
            with self._runner, suppress(asyncio.CancelledError):
                self._runner.run(self._keep_all())
        finally:
            with self._lock:
                self._closed = True
            closed = EngineUnavailableError(_CLOSED)
            with suppress(InvalidStateError):
                self._up.set_exception(closed)
            for asked in tuple(self._asked):
                asked.end(error=closed)

    async def _keep_all(self) -> None:
        self._keeping = asyncio.current_task()
        if self._closed:
            return
        async with asyncio.TaskGroup() as group:
            for seat in self._seats:
                group.create_task(self._keep(seat))

    def _stop(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()

    async def _keep(self, seat: _Seat) -> None:
        """A child in this seat, one after the other."""
        failed = 0
        while True:
            try:
                await self._keep_one(seat)
                failed = 0
            except EngineUnavailableError as error:
                failed += 1
                seat.problem = error if failed >= _STARTS else None
            except FinrayError as error:
                failed, seat.problem = failed + 1, error
            if failed:
                self._tell_problem()
                shortest, longest = _PAUSE_SECONDS
                await asyncio.sleep(min(longest, shortest * 2 ** (failed - 1)))

    async def _keep_one(self, seat: _Seat) -> None:
        """One child, until it ends. Raises FinrayError where it does not come up."""
        try:
            child = await EngineProcess.start(self._source, self._outsiders, self._outside_loop)
        except OSError as error:
            raise EngineUnavailableError(f"the engine's process does not start: {error}") from error
        listening = asyncio.create_task(child.listen(self._hand_out))
        listening.add_done_callback(lambda _: self._stand_up(seat))
        try:
            await child.open(self._tables)
            seat.child, seat.problem = child, None
            with suppress(InvalidStateError):
                self._up.set_result(None)
            self._hand_out()
            await asyncio.wait([listening])
            if listening.exception() is not None:
                _log.error("engine process %d says what cannot be read", child.pid, exc_info=listening.exception())
        finally:
            self._stand_up(seat)
            listening.cancel()
            self._lose(child, await child.end())

    def _stand_up(self, seat: _Seat) -> None:
        """Nothing is asked of the child in this seat any more."""
        seat.child = None

    async def _open(self, tables: Tables) -> None:
        children = [seat.child for seat in self._seats if seat.child is not None]
        results = await asyncio.gather(*(child.open(tables) for child in children), return_exceptions=True)
        for problem in results:
            # A child that ended meanwhile opens what is current when it starts again.
            if isinstance(problem, BaseException) and not isinstance(problem, EngineUnavailableError):
                self._drop(tables)
                raise problem
        self._tables = tables

    def _drop(self, tables: Tables) -> None:
        for seat in self._seats:
            if seat.child is not None:
                seat.child.drop(tables)

    def _take(self, asked: Asked) -> None:
        self._waiting.append(asked)
        self._hand_out()
        self._tell_problem()

    def _hand_out(self) -> None:
        """What waits goes to children that have room, the least busy first."""
        while self._waiting:
            children = [seat.child for seat in self._seats if seat.child is not None]
            child = min(children, key=lambda child: len(child.asked), default=None)
            if child is None or len(child.asked) >= self._in_flight:
                return
            asked = self._waiting.popleft()
            child.ask(asked)
            self._limit(asked, child)

    def _limit(self, asked: Asked, child: EngineProcess) -> None:
        asked.time(self._loop.call_later(self._watch.seconds, self._overdue, asked, child))

    def _overdue(self, asked: Asked, child: EngineProcess) -> None:
        if child.is_held_up(asked, self._watch.grace_seconds):
            self._limit(asked, child)  # another has taken its time
            return
        limit = f"{self._watch.seconds:g} s ({self._watch.setting})"
        _log.warning("a question is not answered after %s", limit)
        asked.settle(error=QuestionTimeoutError(f"not answered after {limit}"))
        self._give_up(asked)

    def _give_up(self, asked: Asked) -> None:
        """Nobody waits for it any more."""
        if asked.given_up:
            return
        asked.given_up = True
        if asked in self._waiting:
            self._waiting.remove(asked)
            asked.end()
        for seat in self._seats:
            if seat.child is not None and asked.number in seat.child.asked:
                seat.child.cancel(asked)
                asked.time(self._loop.call_later(self._watch.grace_seconds, self._end_stuck, seat, seat.child))

    def _end_stuck(self, seat: _Seat, child: EngineProcess) -> None:
        if seat.child is not child:
            return
        self._stand_up(seat)
        grace = self._watch.grace_seconds
        _log.error(
            "engine process %d is ended, for it did not stop within %g s; its standard error says where it was",
            child.pid,
            grace,
        )
        self._killing = self._loop.create_task(child.kill())

    def _lose(self, child: EngineProcess, ending: str) -> None:
        """The child has ended: what it worked on is asked again, before all others."""
        for number, asked in reversed(child.asked.items()):
            asked.losses += _BLAME if number == child.computing else 1
            if asked.given_up:
                asked.end()
            elif asked.losses > _MOST_LOSSES:
                asked.end(error=EngineLostError(f"each process that worked on it ended ({ending})"))
            else:
                asked.time(None)
                self._waiting.appendleft(asked)
        child.asked.clear()
        self._hand_out()

    def _tell_problem(self) -> None:
        """To those who wait, where no child comes up any more."""
        problem = self._seats[0].problem
        if problem is None or self.pids or not all(seat.problem for seat in self._seats):
            return
        with suppress(InvalidStateError):
            self._up.set_exception(problem)
        while self._waiting:
            self._waiting.popleft().end(error=problem)

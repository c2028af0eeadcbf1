"""The process of one engine: ``python -m finray.engines.child DESCRIPTOR PARENT``, with the descriptor of a socket to
the parent and the parent's process id.

The main thread runs the event loop that answers questions; another reads the parent's messages.
"""

from __future__ import annotations

import asyncio
import ctypes
import faulthandler
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from pkgutil import resolve_name
from typing import IO, TYPE_CHECKING, Any, TypeVar

from finray.core.garbage import collect_seldom
from finray.core.heap import map_large_blocks
from finray.core.journal import StageReport
from finray.engines.messages import Ask, Cancel, Drop, Open, Reply, Report, Step, ToParent, encode, encode_reply, read
from finray.engines.outside import Outside
from finray.engines.source import EngineSource, Tables

if TYPE_CHECKING:
    from finray.engine import Engine
    from finray.engines.opening import Opener

_PR_SET_PDEATHSIG = 1
_KERNELS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "32", "LRU_CACHE_CAPACITY": "32"}
"""How many kernels oneDNN and torch keep for the shapes of bf16 products. Each question has new shapes, and 1,024
kernels, the default, take hundreds of megabytes."""
T = TypeVar("T")


class _Child:
    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._reader, self._writer = reader, writer
        self._write_lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._outside = Outside(self._send)
        self._engines: dict[frozenset[tuple[str, int]] | None, Engine] = {}
        self._open_lock = threading.Lock()
        self._open: Opener
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._canceled: set[int] = set()
        self._computing: int | None = None

    def run(self) -> None:
        source: EngineSource = read(self._reader)
        self._open = resolve_name(source.opening)(source, self._outside)
        threading.Thread(target=self._listen, daemon=True).start()
        self._loop.run_forever()

    def _listen(self) -> None:
        while True:
            try:
                message = read(self._reader)
            except (EOFError, OSError):
                os._exit(0)  # the parent is gone
            match message:
                case Ask():
                    self._loop.call_soon_threadsafe(self._begin, message)
                case Cancel(number):
                    self._canceled.add(number)
                    if self._computing == number:
                        self._outside.interrupt()
                    self._loop.call_soon_threadsafe(self._cancel, number)
                case Open() if self._engines:  # in parallel to questions
                    threading.Thread(target=self._prepare, args=[message], daemon=True).start()
                case Open():  # loads the models, in the thread that uses them
                    self._loop.call_soon_threadsafe(self._prepare, message)
                case Drop(tables):
                    self._engines.pop(_key(tables), None)
                case Reply():
                    self._outside.replied(message)

    def _begin(self, ask: Ask) -> None:
        self._tasks[ask.number] = task = self._loop.create_task(self._work(ask))
        task.add_done_callback(partial(self._done, ask.number))

    def _cancel(self, number: int) -> None:
        if number in self._tasks:
            self._tasks[number].cancel()
        else:
            self._canceled.discard(number)

    async def _work(self, ask: Ask) -> Any:
        number = ask.number

        def observe(report: StageReport) -> None:
            if number in self._canceled:
                raise asyncio.CancelledError
            if ask.reports:
                self._send(Report(number, report))

        async def call() -> Any:
            method = getattr(self._engine(ask.tables), ask.method)
            return await method(**ask.arguments, observer=observe)

        return await _Steps(call(), number, self._computes)

    def _computes(self, number: int | None) -> None:
        self._computing = number
        self._send(Step(number))

    def _done(self, number: int, task: asyncio.Task[Any]) -> None:
        del self._tasks[number]
        self._canceled.discard(number)
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        self._write(encode_reply(number, None if error else task.result(), error))

    def _prepare(self, message: Open) -> None:
        problem = None
        try:
            self._engine(message.tables)
        except Exception as error:  # noqa: BLE001 - the parent handles it
            problem = error
        self._write(encode_reply(message.number, None, problem))

    def _engine(self, tables: Tables | None) -> Engine:
        key = _key(tables)
        if (engine := self._engines.get(key)) is not None:
            return engine
        with self._open_lock:
            if (engine := self._engines.get(key)) is None:
                engine = self._engines[key] = self._open(tables)
        return engine

    def _send(self, message: ToParent) -> None:
        self._write(encode(message))

    def _write(self, content: bytes) -> None:
        with self._write_lock:
            self._writer.write(content)
            self._writer.flush()


class _Steps(Awaitable[T]):
    """Awaits ``coroutine``; calls ``switch`` with ``number`` before each step that computes, and with None after it."""

    def __init__(self, coroutine: Coroutine[Any, Any, T], number: int, switch: Callable[[int | None], None]) -> None:
        self._coroutine, self._number, self._switch = coroutine, number, switch

    def __await__(self) -> Generator[Any, Any, T]:
        resume: Callable[[], Any] = partial(self._coroutine.send, None)
        while True:
            self._switch(self._number)
            try:
                waits_for = resume()
            except StopIteration as done:
                value: T = done.value
                return value
            finally:
                self._switch(None)
            try:
                resume = partial(self._coroutine.send, (yield waits_for))
            except BaseException as error:  # noqa: BLE001 - the coroutine handles it
                resume = partial(self._coroutine.throw, error)


def _key(tables: Tables | None) -> frozenset[tuple[str, int]] | None:
    return None if tables is None else frozenset(tables.items())


def _end_with_parent(parent: int) -> None:
    """Make the kernel kill this process when the thread that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent has already ended
        os._exit(0)


def keep_few_kernels() -> None:
    """Limit the kernels that torch keeps in this process; before it first multiplies."""
    os.environ.update(_KERNELS | os.environ)


def main() -> None:
    _end_with_parent(int(sys.argv[2]))
    collect_seldom()
    map_large_blocks()
    keep_few_kernels()
    os.dup2(2, 1)  # keeps output of libraries out of the command's output
    faulthandler.register(signal.SIGUSR1, all_threads=False)  # a traceback before it is killed
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    parent = socket.socket(fileno=descriptor)
    _Child(parent.makefile("rb"), parent.makefile("wb")).run()


if __name__ == "__main__":
    main()

"""The parent's end of one child, and its requests. Nothing here blocks, whatever the child does."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from finray.core.errors import EngineLostError, EngineUnavailableError, FinrayError
from finray.core.journal import Observer, StageReport
from finray.engines.messages import (
    Ask,
    Call,
    Cancel,
    Drop,
    Open,
    Reply,
    Report,
    Step,
    ToChild,
    ToParent,
    encode,
    encode_reply,
    read_next,
    settle,
)
from finray.engines.outside import Outsiders
from finray.engines.source import EngineSource, Tables

_log = logging.getLogger(__name__)
_TRACEBACK_SECONDS = 0.1
_OPEN_NUMBERS: Final[Iterator[int]] = itertools.count(-1, -1)
"""Negative, so that they differ from the numbers of requests."""


@dataclass(eq=False, slots=True)
class Request:
    """A call of an engine, from its start until no child works on it.

    ``loop`` is the caller's event loop. ``losses`` weighs the children that ended while they had this request.

    ``given_up``: the caller no longer waits, though a child may still work on it.
    """

    message: Ask
    observer: Observer | None
    loop: asyncio.AbstractEventLoop
    on_end: Callable[[Request], None]
    outcome: Future[Any] = field(default_factory=Future)
    losses: int = 0
    given_up: bool = False
    timer: asyncio.TimerHandle | None = None

    @property
    def number(self) -> int:
        return self.message.number

    def observe(self, report: StageReport) -> None:
        if self.observer is not None and not self.given_up:
            with suppress(RuntimeError):  # the caller's loop is closed
                self.loop.call_soon_threadsafe(self.observer, report)

    def set_timer(self, timer: asyncio.TimerHandle | None) -> None:
        """Replace the current timer."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = timer

    def end(self, value: Any = None, error: BaseException | None = None) -> None:
        """Settle a request that no child works on."""
        self.set_timer(None)
        self.on_end(self)
        settle(self.outcome, value, error)


class EngineProcess:
    """Use it on the event loop that started it. The child ends with that loop's thread."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        outsiders: Outsiders,
        outside_loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        self._process = process
        self._reader, self._writer = streams
        self._outsiders, self._outside_loop = outsiders, outside_loop
        self._opening: dict[int, Future[None]] = {}
        self._calls: dict[int, asyncio.Task[Any]] = {}
        self.requests: dict[int, Request] = {}
        self.computing: int | None = None
        """The number of the request that computes now."""
        self._step_began = 0.0

    @classmethod
    async def start(
        cls, source: EngineSource, outsiders: Outsiders, outside_loop: asyncio.AbstractEventLoop | None
    ) -> EngineProcess:
        """``outsiders`` are called on ``outside_loop``, by default on this loop. Raises OSError."""
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "finray.engines.child", str(theirs.fileno()), str(os.getpid())]
        # The child can import what this process can: Ray puts the files of a job on the path of its workers.
        path = os.pathsep.join(folder or os.curdir for folder in sys.path)
        with theirs:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=os.environ | {"PYTHONPATH": path},
                start_new_session=True,  # Ctrl-C is for the parent; the child's own children end with it
            )
        try:
            child = cls(process, await asyncio.open_unix_connection(sock=ours), outsiders, outside_loop)
        except BaseException:
            process.kill()
            process.wait()
            raise
        child._send(source)
        return child

    @property
    def pid(self) -> int:
        return self._process.pid

    async def open(self, tables: Tables | None) -> None:
        """Open this version of the index in the child. Raises FinrayError."""
        number = next(_OPEN_NUMBERS)
        self._opening[number] = opened = Future[None]()
        self._send(Open(number, tables))
        await asyncio.wrap_future(opened)

    def drop(self, tables: Tables) -> None:
        self._send(Drop(tables))

    def ask(self, request: Request) -> None:
        self.requests[request.number] = request
        self._send(request.message)

    def cancel(self, request: Request) -> None:
        self._send(Cancel(request.number))

    def is_held_up(self, request: Request, seconds: float) -> bool:
        """Whether another request has computed for more than ``seconds`` without a pause."""
        too_long = asyncio.get_running_loop().time() - self._step_began > seconds
        return too_long and self.computing not in (None, request.number)

    async def listen(self, ended: Callable[[], None]) -> None:
        """Handle the child's messages until it ends; ``ended`` is called after each request that it finished."""
        try:
            while (message := await read_next(self._reader)) is not None:
                self._take(message)
                if isinstance(message, Reply):
                    ended()
        finally:
            gone = "the engine process ended while opening the index; see its standard error"
            for opening in self._opening.values():
                settle(opening, error=EngineUnavailableError(gone))
            for call in self._calls.values():
                call.cancel()

    def kill(self) -> None:
        """Make the child print a traceback on standard error, and kill it a moment later."""
        self._signal(signal.SIGUSR1, os.kill)
        asyncio.get_running_loop().call_later(_TRACEBACK_SECONDS, self._signal, signal.SIGKILL, os.killpg)

    async def end(self) -> str:
        """Kill the child and all its processes; returns how it ended, as "exit status 1" or "signal SIGKILL"."""
        self._signal(signal.SIGKILL, os.killpg)
        self._writer.close()
        status = await asyncio.to_thread(self._process.wait)
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"

    def _signal(self, number: signal.Signals, send: Callable[[int, int], None]) -> None:
        with suppress(ProcessLookupError):
            if self._process.returncode is None:  # its id is not reused until it is reaped
                send(self.pid, number)

    def _send(self, message: ToChild) -> None:
        self._write(encode(message))

    def _write(self, content: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(content)

    def _take(self, message: ToParent) -> None:
        match message:
            case Step(number):
                self.computing, self._step_began = number, asyncio.get_running_loop().time()
            case Report(number, report) if number in self.requests:
                self.requests[number].observe(report)
            case Call(number):
                self._calls[number] = call = asyncio.get_running_loop().create_task(self._call(message))
                call.add_done_callback(partial(self._called, number))
            case Cancel(number) if number in self._calls:
                self._calls[number].cancel()
            case Reply(number, value, error) if number in self.requests:
                if isinstance(error, asyncio.CancelledError):  # not canceled by us
                    error = EngineLostError("the engine gave up the question by itself")
                self.requests.pop(number).end(value, error)
            case Reply(number, error=error) if number in self._opening:
                if error is not None and not isinstance(error, FinrayError):
                    _log.error("the engine cannot be opened", exc_info=error)
                    error = EngineUnavailableError(f"the engine cannot be opened: {error!r}")
                settle(self._opening.pop(number), error=error)

    async def _call(self, call: Call) -> Any:
        work = self._outsiders[call.role](*call.arguments)
        if self._outside_loop is None:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._outside_loop))

    def _called(self, number: int, call: asyncio.Task[Any]) -> None:
        del self._calls[number]
        error = asyncio.CancelledError() if call.cancelled() else call.exception()
        self._write(encode_reply(number, None if error else call.result(), error))

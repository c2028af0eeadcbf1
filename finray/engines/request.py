"""A call of an engine, from its start until no child works on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from finray.core.journal import Observer, StageReport
from finray.engines.messages import Ask


@dataclass(eq=False, slots=True)
class Request:
    """``loop`` is the caller's event loop. ``losses`` weighs the children that ended while they had this request.

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

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        """Give the caller a result, possibly before the end."""
        with suppress(InvalidStateError):  # it already has one, or has given up
            if error is not None:
                self.outcome.set_exception(error)
            else:
                self.outcome.set_result(value)

    def end(self, value: Any = None, error: BaseException | None = None) -> None:
        """Settle a request that no child works on."""
        self.set_timer(None)
        self.on_end(self)
        self.settle(value, error)

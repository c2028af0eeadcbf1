"""What was asked of an engine, from the moment that somebody waits for it until it has ended."""

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
class Asked:
    """``asker`` is the event loop of who waits for ``outcome``. ``losses`` weigh the children that ended with this at
    hand; ``given_up`` says that nobody waits any more, though a child may still work on it."""

    message: Ask
    observer: Observer | None
    asker: asyncio.AbstractEventLoop
    ended: Callable[[Asked], None]
    outcome: Future[Any] = field(default_factory=Future)
    losses: int = 0
    given_up: bool = False
    timer: asyncio.TimerHandle | None = None

    @property
    def number(self) -> int:
        return self.message.number

    def observe(self, report: StageReport) -> None:
        if self.observer is not None and not self.given_up:
            with suppress(RuntimeError):  # the asker's loop is closed
                self.asker.call_soon_threadsafe(self.observer, report)

    def time(self, handle: asyncio.TimerHandle | None) -> None:
        """``handle`` in place of the timer before."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = handle

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        """What who waits gets, be it before or at the end."""
        with suppress(InvalidStateError):  # nobody waits any more
            if error is not None:
                self.outcome.set_exception(error)
            else:
                self.outcome.set_result(value)

    def end(self, value: Any = None, error: BaseException | None = None) -> None:
        """No child works on it any more."""
        self.time(None)
        self.ended(self)
        self.settle(value, error)

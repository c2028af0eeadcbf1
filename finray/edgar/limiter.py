"""Limits the rate of all requests to EDGAR, and pauses them all if EDGAR demands it.

:class:`Pacer` is the rule, without threads; :class:`LocalLimiter` applies it to one process,
``finray.cluster.edgar_limiter`` to a cluster.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

Sleep = Callable[[float], object]
"""Waits for some seconds and returns whether it was interrupted (as ``threading.Event.wait`` does)."""


class Limiter(Protocol):
    def acquire(self, sleep: Sleep = time.sleep) -> None:
        """Wait until one request may go out or ``sleep`` is interrupted."""

    def pause(self, seconds: float) -> None:
        """Hold back all requests."""

    @property
    def pauses(self) -> int:
        """The number of pauses so far."""


class Pacer:
    """Grants at most ``per_second`` requests a second, evenly spaced because SEC counts bursts.

    ``clock`` is monotonic, in seconds, so a changed wall clock has no effect.
    """

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._spacing = 1.0 / per_second
        self._clock = clock
        self._free = clock()
        self._resume = self._free
        self.pauses = 0

    def ask(self) -> float:
        """0.0 grants a request; otherwise the seconds to wait before the next try."""
        now = self._clock()
        wait = max(self._free, self._resume) - now
        if wait > 0:
            return wait
        self._free = now + self._spacing
        return 0.0

    def slow_down(self, per_second: float) -> None:
        """Reduce the pace to ``per_second`` if that is slower."""
        self._spacing = max(self._spacing, 1.0 / per_second)

    def pause(self, seconds: float) -> None:
        resume = self._clock() + seconds
        # Requests in flight together are all refused: that is one pause, not several.
        if self._clock() >= self._resume:
            self.pauses += 1
        self._resume = max(self._resume, resume)


class LocalLimiter:
    """The limiter of one process, for all its threads."""

    def __init__(self, per_second: float) -> None:
        self._pacer = Pacer(per_second)
        self._lock = threading.Lock()

    def acquire(self, sleep: Sleep = time.sleep) -> None:
        wait_for(self._ask, sleep)

    def pause(self, seconds: float) -> None:
        with self._lock:
            self._pacer.pause(seconds)

    @property
    def pauses(self) -> int:
        return self._pacer.pauses

    def _ask(self) -> float:
        with self._lock:
            return self._pacer.ask()


def wait_for(ask: Callable[[], float], sleep: Sleep = time.sleep) -> None:
    """Sleep until ``ask`` grants a request. After a wait another may follow: for a pause, or behind a faster thread."""
    while (wait := ask()) > 0:
        if sleep(wait):
            return

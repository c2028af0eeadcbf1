"""One pace for all requests to EDGAR, and one pause for all when EDGAR asks for it.

:class:`Pacer` is the rule and owns no thread and no clock but the one it is given; :class:`LocalLimiter` is the
limiter of one process, ``finray.cluster.edgar_limiter`` that of a cluster.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

Sleep = Callable[[float], object]
"""Waits for so many seconds; what it returns is true where it was interrupted (as ``threading.Event.wait`` does)."""


class Limiter(Protocol):
    def acquire(self, sleep: Sleep = time.sleep) -> None:
        """Returns when one request may go out, or when ``sleep`` was interrupted."""
        ...

    def pause(self, seconds: float) -> None:
        """No request goes out for so long, whoever asks."""
        ...

    @property
    def pauses(self) -> int:
        """How often there was a pause so far."""
        ...


class Pacer:
    """Grants at most ``per_second`` requests a second, evenly spaced: a burst is what SEC counts.

    ``clock`` is monotonic, in seconds, so that a changed wall clock changes nothing.
    """

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._spacing = 1.0 / per_second
        self._clock = clock
        self._free = clock()
        self._resume = self._free
        self.pauses = 0

    def ask(self) -> float:
        """0.0: go now. Else the seconds after which it is worth asking again."""
        now = self._clock()
        wait = max(self._free, self._resume) - now
        if wait > 0:
            return wait
        self._free = now + self._spacing
        return 0.0

    def slow_down(self, per_second: float) -> None:
        """From now on no more than ``per_second``, where that is less than before."""
        self._spacing = max(self._spacing, 1.0 / per_second)

    def pause(self, seconds: float) -> None:
        resume = self._clock() + seconds
        # Requests that were on their way together are all refused: that is one pause, not several.
        if self._clock() >= self._resume:
            self.pauses += 1
        self._resume = max(self._resume, resume)


class LocalLimiter:
    """For the threads of one process."""

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
    """Sleep until ``ask`` grants. It is asked again after each wait: a pause may have come, or another have gone."""
    while (wait := ask()) > 0:
        if sleep(wait):
            return

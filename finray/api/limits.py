"""Limits: questions in flight for the whole service; rate (a token bucket) and concurrency for each key."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from finray.api.errors import ApiError
from finray.core.settings import ServingSettings

_FIRST_SECONDS = 0.1
"""Initial estimate of the time for one question."""
_RECENT = 0.05
"""Weight of the newest question in the moving average."""
_SPREAD = 0.25
"""Retry times differ by up to this share, so that clients do not return all at once."""
_BURST_S = 10.0
"""A bucket holds the tokens of this many seconds, and at least those of the largest request."""


class Capacity:
    """Admits up to ``limit`` questions, running or queued; ``workers`` of them run at a time."""

    def __init__(self, limit: int, workers: int, spread: Callable[[float, float], float] = random.uniform) -> None:
        self._limit, self._workers, self._spread = limit, workers, spread
        self._seconds = _FIRST_SECONDS
        self._open = 0

    def took(self, seconds: float) -> None:
        """Record the time that a question took, without waiting."""
        self._seconds += _RECENT * (seconds - self._seconds)

    @contextmanager
    def admit(self, questions: int) -> Iterator[None]:
        """Count ``questions`` as open inside the block.

        Raises ApiError 429 if they exceed the limit, so that the client can retry later or elsewhere instead of
        waiting; Retry-After is randomized to spread the retries. If no question is open, a request with more questions
        than the limit is still accepted.
        """
        if self._open and self._open + questions > self._limit:
            raise self._overloaded()
        self._open += questions
        try:
            yield
        finally:
            self._open -= questions

    def _overloaded(self) -> ApiError:
        wait = self._open * self._seconds / self._workers * self._spread(1 - _SPREAD, 1 + _SPREAD)
        questions = f"{self._open} questions are running or queued, of at most {self._limit}"
        return ApiError(429, "overloaded", f"{questions} (serving.max_in_flight); try again", retry_after=wait)


@dataclass(slots=True)
class TokenBucket:
    """Fills with ``per_second`` tokens up to ``capacity``. It held ``tokens`` at the time ``at`` (seconds)."""

    per_second: float
    capacity: float
    at: float
    tokens: float

    def take(self, cost: float, now: float) -> float:
        """Take ``cost`` tokens and return 0, or return the seconds until they are available."""
        self.tokens = min(self.capacity, self.tokens + (now - self.at) * self.per_second)
        self.at = now
        if self.tokens >= cost:
            self.tokens -= cost
            return 0.0
        return (cost - self.tokens) / self.per_second


class KeyLimits:
    """Rate and concurrency limits of each key, in one process. Thread-safe."""

    def __init__(self, settings: ServingSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = settings, clock
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, str], TokenBucket] = {}
        self._under_way: Counter[str] = Counter()

    def read(self, key: str) -> None:
        """Count one read. Raises ApiError 429."""
        self._take(key, 1, self._settings.reads_per_minute, "serving.reads_per_minute")

    def ask(self, key: str, questions: int) -> None:
        """Count questions. Raises ApiError 429."""
        self._take(key, questions, self._settings.questions_per_minute, "serving.questions_per_minute")

    def begin(self, key: str) -> Callable[[], None]:
        """Count a request as in progress until the returned function is called. Raises ApiError 429."""
        with self._lock:
            if self._under_way[key] >= (most := self._settings.max_concurrent):
                message = f"this key has {most} requests under way (serving.max_concurrent); wait for one to end"
                raise ApiError(429, "concurrency_limit", message, retry_after=1.0)
            self._under_way[key] += 1

        def end() -> None:
            with self._lock:
                self._under_way[key] -= 1

        return end

    def _take(self, key: str, cost: int, per_minute: float, setting: str) -> None:
        with self._lock:
            now = self._clock()
            per_second = per_minute / 60
            capacity = max(per_second * _BURST_S, float(self._settings.max_questions))
            full = TokenBucket(per_second, capacity, now, tokens=capacity)
            wait = self._buckets.setdefault((setting, key), full).take(cost, now)
        if wait:
            message = f"this key may ask {per_minute:g} a minute ({setting}); try again in {wait:.1f} s"
            raise ApiError(429, "rate_limit", message, retry_after=wait)

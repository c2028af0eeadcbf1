"""Limits: questions in flight for the whole service; rate (a token bucket) and concurrency for each key."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from finray.api.errors import ApiError
from finray.core.settings import ServingSettings

_FIRST_SECONDS = 0.1
"""Initial estimate of the time for one question."""
_RECENT = 0.05
"""Weight of the newest question in the moving average."""
_SPREAD = 0.25
_BURST_S = 10.0
"""A bucket holds the tokens of this many seconds, and at least those of the largest request."""


class Capacity:
    """Admits up to ``limit`` questions, running or queued; ``workers`` of them run at a time."""

    def __init__(self, limit: int, workers: int, spread: Callable[[float, float], float] = random.uniform) -> None:
        self._limit, self._workers, self._spread = limit, workers, spread
        self._seconds = _FIRST_SECONDS

    def took(self, seconds: float) -> None:
        """Record the time that a question took, without waiting."""
        self._seconds += _RECENT * (seconds - self._seconds)

    def check(self, open_questions: int, more: int) -> None:
        """Raises ApiError 429 if ``more`` questions exceed the limit, so that the client can retry later or elsewhere
        instead of waiting. Retry-After is randomized to spread the retries.

        If no question is open, a request with more questions than the limit is still accepted.
        """
        if not open_questions or open_questions + more <= self._limit:
            return
        wait = open_questions * self._seconds / self._workers
        raise ApiError(
            429,
            "overloaded",
            f"{open_questions} questions are running or queued, of at most {self._limit} (serving.max_in_flight); "
            "try again",
            retry_after=wait * self._spread(1 - _SPREAD, 1 + _SPREAD),
        )


@dataclass(slots=True)
class TokenBucket:
    """``per_second`` tokens flow in, up to ``capacity``; it starts full."""

    per_second: float
    capacity: float
    at: float
    tokens: float = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = self.capacity

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
        self._questions: dict[str, TokenBucket] = {}
        self._reads: dict[str, TokenBucket] = {}
        self._under_way: dict[str, int] = {}

    def read(self, key: str) -> None:
        """Count one read. Raises ApiError 429."""
        self._take(self._reads, key, 1, self._settings.reads_per_minute, "serving.reads_per_minute")

    def ask(self, key: str, questions: int) -> None:
        """Count questions. Raises ApiError 429."""
        self._take(self._questions, key, questions, self._settings.questions_per_minute, "serving.questions_per_minute")

    def begin(self, key: str) -> Callable[[], None]:
        """Count a request as in progress until the returned function is called. Raises ApiError 429."""
        with self._lock:
            if self._under_way.get(key, 0) >= self._settings.max_concurrent:
                raise ApiError(
                    429,
                    "concurrency_limit",
                    f"this key has {self._settings.max_concurrent} requests under way (serving.max_concurrent); "
                    "wait for one to end",
                    retry_after=1.0,
                )
            self._under_way[key] = self._under_way.get(key, 0) + 1

        def end() -> None:
            with self._lock:
                self._under_way[key] -= 1
                if not self._under_way[key]:
                    del self._under_way[key]

        return end

    def _take(self, buckets: dict[str, TokenBucket], key: str, cost: int, per_minute: float, setting: str) -> None:
        with self._lock:
            now = self._clock()
            bucket = buckets.get(key)
            if bucket is None:
                per_second = per_minute / 60
                capacity = max(per_second * _BURST_S, float(self._settings.max_questions))
                bucket = buckets[key] = TokenBucket(per_second, capacity, now)
            wait = bucket.take(cost, now)
        if wait:
            raise ApiError(
                429,
                "rate_limit",
                f"this key may ask {per_minute:g} a minute ({setting}); try again in {wait:.1f} s",
                retry_after=wait,
            )

"""Limits: what one service takes at once, and of one key a rate (a token bucket) and how much may be under way."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from finray.api.errors import ApiError
from finray.core.settings import ServingSettings

_FIRST_SECONDS = 0.1
"""Taken for what a question takes until some were answered."""
_RECENT = 0.05
"""Weight of the newest question in the average."""
_SPREAD = 0.25
_BURST_S = 10.0
"""A bucket holds what this many seconds bring, and at least the largest request."""


class Capacity:
    """Room for ``limit`` questions at work or waiting, with ``workers`` of them at work at a time."""

    def __init__(self, limit: int, workers: int, spread: Callable[[float, float], float] = random.uniform) -> None:
        self._limit, self._workers, self._spread = limit, workers, spread
        self._seconds = _FIRST_SECONDS

    def took(self, seconds: float) -> None:
        """Note what a question took, waiting excluded."""
        self._seconds += _RECENT * (seconds - self._seconds)

    def check(self, open_questions: int, more: int) -> None:
        """Refuse at once what would only wait: the client can try elsewhere, or again when those that are here are
        done. Clients refused in one moment are told different times. Raises ApiError 429.

        A request of more questions than the limit is still taken where nothing else is under way.
        """
        if not open_questions or open_questions + more <= self._limit:
            return
        wait = open_questions * self._seconds / self._workers
        raise ApiError(
            429,
            "overloaded",
            f"{open_questions} questions are at work or waiting here, of {self._limit} (serving.max_in_flight); try "
            "again",
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
        """0 where ``cost`` was taken, else the seconds to wait for it."""
        self.tokens = min(self.capacity, self.tokens + (now - self.at) * self.per_second)
        self.at = now
        if self.tokens >= cost:
            self.tokens -= cost
            return 0.0
        return (cost - self.tokens) / self.per_second


class KeyLimits:
    """Rates and concurrency by key, for one process. For use from several threads."""

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
        """Count a request as under way until the returned function is called. Raises ApiError 429."""
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

"""Limits of one key: a rate, as a token bucket, and how much may be under way at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from finray.api.errors import ApiError
from finray.settings import ServingSettings

_BURST_S = 10.0
"""A bucket holds what this many seconds bring, and at least the largest request."""


def check_capacity(open_questions: int, more: int, limit: int, wait_s: float) -> None:
    """Refuse at once what would only wait: the client can try elsewhere, or again in ``wait_s``. Raises ApiError 429.

    A request of more questions than the limit is still taken where nothing else is under way.
    """
    if open_questions and open_questions + more > limit:
        raise ApiError(
            429,
            "overloaded",
            f"{open_questions} questions are at work or waiting here, of {limit} (serving.max_in_flight); try again",
            retry_after=wait_s,
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
    """Rates and concurrency by key, for one process."""

    def __init__(self, settings: ServingSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = settings, clock
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
            self._under_way[key] -= 1
            if not self._under_way[key]:
                del self._under_way[key]

        return end

    def _take(self, buckets: dict[str, TokenBucket], key: str, cost: int, per_minute: float, setting: str) -> None:
        now = self._clock()
        bucket = buckets.get(key)
        if bucket is None:
            per_second = per_minute / 60
            capacity = max(per_second * _BURST_S, float(self._settings.max_questions))
            bucket = buckets[key] = TokenBucket(per_second, capacity, now)
        if wait := bucket.take(cost, now):
            raise ApiError(
                429,
                "rate_limit",
                f"this key may ask {per_minute:g} a minute ({setting}); try again in {wait:.1f} s",
                retry_after=wait,
            )

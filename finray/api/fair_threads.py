"""A thread pool that serves API keys round-robin, so that one key's reads do not delay those of others."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from finray.api.errors import ApiError

_FIRST_SECONDS = 0.1
"""Initial estimate of a job's duration."""
_RECENT = 0.1
"""Weight of the newest job in the moving average."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    work: Callable[[], Any]
    done: Future[Any]


class FairThreads:
    """Runs jobs for API keys on its own pool of ``threads`` threads.

    A free thread takes a job of the key that has waited longest for its turn. One key gets at most all threads but one
    and has at most ``per_key`` jobs running or queued. At most ``waiting`` jobs are queued in total. Jobs beyond these
    limits are refused at once. Safe from any thread and event loop.
    """

    def __init__(self, name: str, threads: int, *, per_key: int, waiting: int) -> None:
        self._name, self._threads, self._per_key, self._max_waiting = name, threads, per_key, waiting
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[_Job]] = {}
        """Queue of each key that has one; the key whose turn is next comes first."""
        self._at_work: Counter[str] = Counter()
        self._seconds = _FIRST_SECONDS

    async def run(self, key: str, work: Callable[[], T]) -> T:
        """The result of ``work``. Cancelling removes a queued job; a running one continues to its end and counts until
        then. Raises ApiError 429."""
        job = _Job(work, Future())
        with self._lock:
            self._admit(key)
            self._waiting.setdefault(key, deque()).append(job)
            self._hand_out()
        try:
            result: T = await asyncio.wrap_future(job.done)
        except asyncio.CancelledError:
            with self._lock:
                self._withdraw(key, job)
            raise
        return result

    def close(self) -> None:
        """Cancel queued jobs. Running ones continue to their end."""
        with self._lock:
            for jobs in self._waiting.values():
                for job in jobs:
                    job.done.cancel()
            self._waiting.clear()
        self._pool.shutdown(wait=False)

    def _admit(self, key: str) -> None:
        waiting = sum(map(len, self._waiting.values()))
        retry_after = (waiting + 1) * self._seconds / self._threads
        if self._at_work[key] + len(self._waiting.get(key, ())) >= self._per_key:
            message = (
                f"this key has {self._per_key} {self._name} under way (serving.max_concurrent); wait for one to end"
            )
            raise ApiError(429, "concurrency_limit", message, retry_after=retry_after)
        if waiting >= self._max_waiting:
            message = f"{waiting} {self._name} are already queued (serving.max_waiting_reads); try again"
            raise ApiError(429, "overloaded", message, retry_after=retry_after)

    def _hand_out(self) -> None:
        most = max(1, self._threads - 1)
        while sum(self._at_work.values()) < self._threads:
            key = next((key for key in self._waiting if self._at_work[key] < most), None)
            if key is None:
                return
            jobs = self._waiting.pop(key)
            job = jobs.popleft()
            if jobs:
                self._waiting[key] = jobs  # behind all others
            if job.done.set_running_or_notify_cancel():
                self._at_work[key] += 1
                self._pool.submit(self._work, key, job)

    def _work(self, key: str, job: _Job) -> None:
        started = time.perf_counter()
        try:
            result = job.work()
        except BaseException as error:  # noqa: BLE001 - passed on to the caller
            job.done.set_exception(error)
        else:
            job.done.set_result(result)
        with self._lock:
            self._seconds += _RECENT * (time.perf_counter() - started - self._seconds)
            self._at_work[key] -= 1
            self._hand_out()

    def _withdraw(self, key: str, job: _Job) -> None:
        jobs = self._waiting.get(key)
        if jobs is not None and job in jobs:
            jobs.remove(job)
            if not jobs:
                del self._waiting[key]

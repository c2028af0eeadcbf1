"""Threads that the keys of a service take in turn, so that nobody's reads hold up those of others for long."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from finray.api.errors import ApiError

_FIRST_SECONDS = 0.1
"""Taken for what a piece of work takes until some were done."""
_RECENT = 0.1
"""Weight of the newest in the average."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    work: Callable[[], Any]
    done: Future[Any]


class FairThreads:
    """Runs work for keys on ``threads`` threads of its own.

    A free thread takes the work of the key whose turn is longest ago. One key gets all threads but one, has at most
    ``per_key`` jobs at work or waiting, and at most ``waiting`` jobs wait in all: more are refused at once. For use
    from any thread and event loop.
    """

    def __init__(self, name: str, threads: int, *, per_key: int, waiting: int) -> None:
        self._name, self._threads, self._per_key, self._max_waiting = name, threads, per_key, waiting
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[_Job]] = {}
        """By key; the key whose turn it is comes first. None is empty."""
        self._at_work: dict[str, int] = {}
        self._seconds = _FIRST_SECONDS

    async def run(self, key: str, work: Callable[[], T]) -> T:
        """The result of ``work``. Cancelling takes it out of the line; what a thread began goes on to its end, and
        counts until then. Raises ApiError 429."""
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
        """What waits is never done; what is at work goes on to its end."""
        with self._lock:
            for jobs in self._waiting.values():
                for job in jobs:
                    job.done.cancel()
            self._waiting.clear()
        self._pool.shutdown(wait=False)

    def _admit(self, key: str) -> None:
        waiting = sum(map(len, self._waiting.values()))
        retry_after = (waiting + 1) * self._seconds / self._threads
        if self._at_work.get(key, 0) + len(self._waiting.get(key, ())) >= self._per_key:
            raise ApiError(
                429,
                "concurrency_limit",
                f"this key has {self._per_key} {self._name} under way (serving.max_concurrent); wait for one to end",
                retry_after=retry_after,
            )
        if waiting >= self._max_waiting:
            raise ApiError(
                429,
                "overloaded",
                f"{waiting} {self._name} wait here already (serving.max_waiting_reads); try again",
                retry_after=retry_after,
            )

    def _hand_out(self) -> None:
        while sum(self._at_work.values()) < self._threads:
            most = max(1, self._threads - 1)
            key = next((key for key in self._waiting if self._at_work.get(key, 0) < most), None)
            if key is None:
                return
            jobs = self._waiting.pop(key)
            job = jobs.popleft()
            if jobs:
                self._waiting[key] = jobs  # behind all others
            if job.done.set_running_or_notify_cancel():
                self._at_work[key] = self._at_work.get(key, 0) + 1
                self._pool.submit(self._work, key, job)

    def _work(self, key: str, job: _Job) -> None:
        started = time.perf_counter()
        try:
            result = job.work()
        except BaseException as error:  # noqa: BLE001 - it is the caller's, whatever it is
            job.done.set_exception(error)
        else:
            job.done.set_result(result)
        with self._lock:
            self._seconds += _RECENT * (time.perf_counter() - started - self._seconds)
            self._at_work[key] -= 1
            if not self._at_work[key]:
                del self._at_work[key]
            self._hand_out()

    def _withdraw(self, key: str, job: _Job) -> None:
        jobs = self._waiting.get(key)
        if jobs is not None and job in jobs:
            jobs.remove(job)
            if not jobs:
                del self._waiting[key]

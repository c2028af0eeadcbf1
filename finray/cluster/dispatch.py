"""Dispatches questions to workers so that none waits behind another while a worker is free. Does not use Ray."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

W = TypeVar("W", bound=Hashable)


class Assignment(Generic[W]):
    """A question at a worker. Once ``moved`` is done, ``worker`` is another one."""

    def __init__(self, topic: Hashable = None) -> None:
        self.topic = topic
        self._loop = asyncio.get_running_loop()
        self.assigned: asyncio.Future[None] = self._loop.create_future()
        self.moved: asyncio.Future[None] = self._loop.create_future()
        self._worker: W | None = None

    @property
    def worker(self) -> W:
        assert self._worker is not None, "acquire() assigns one"
        return self._worker

    def assign(self, worker: W) -> None:
        if self._worker is not None:
            self.moved.set_result(None)
            self.moved = self._loop.create_future()
        elif not self.assigned.done():
            self.assigned.set_result(None)
        self._worker = worker


class Dispatcher(Generic[W]):
    """Assigns questions to workers. Each works on up to ``works_on`` at a time and queues ``prefetch`` more, first in,
    first out. Once no question waits for a worker, queued ones move to workers that are free.

    A worker gets the first question with the topic of its last one, else one with a topic that no other worker has,
    else the first."""

    def __init__(self, works_on: int, prefetch: int) -> None:
        self._works_on, self._capacity = works_on, works_on + prefetch
        self._waiting: deque[Assignment[W]] = deque()
        self._assigned: dict[W, list[Assignment[W]]] = {}
        self._topics: dict[W, Hashable] = {}
        self._failure: Exception | None = None

    @property
    def workers(self) -> list[W]:
        return list(self._assigned)

    def add(self, worker: W) -> None:
        self._assigned[worker], self._failure = [], None
        self._dispatch()

    def remove(self, worker: W) -> bool:
        """Remove a worker; returns whether it was there. The caller acquires new assignments for its questions."""
        self._topics.pop(worker, None)
        return self._assigned.pop(worker, None) is not None

    async def acquire(self, topic: Hashable = None) -> Assignment[W]:
        """An assignment for a question about ``topic``; without topics first come, first served.

        Raises the error given to ``fail``.
        """
        if self._failure is not None:
            raise self._failure
        assignment = Assignment[W](topic)
        self._waiting.append(assignment)
        self._dispatch()
        try:
            await assignment.assigned
        except BaseException:
            self.release(assignment)
            raise
        return assignment

    def release(self, assignment: Assignment[W]) -> None:
        for assignments in (self._waiting, *self._assigned.values()):
            if assignment in assignments:
                assignments.remove(assignment)
        self._dispatch()

    def fail(self, error: Exception) -> None:
        """Raise ``error`` in present and future callers of ``acquire`` until a worker is added."""
        self._failure = error
        while self._waiting:
            assignment = self._waiting.popleft()
            if not assignment.assigned.done():
                assignment.assigned.set_exception(error)

    def _dispatch(self) -> None:
        while self._assigned:
            worker, assignments = min(self._assigned.items(), key=lambda item: len(item[1]))
            if self._waiting:
                if len(assignments) >= self._capacity:
                    return
                assignment = self._next_for(worker)
                self._topics[worker] = assignment.topic
            else:
                busiest = max(self._assigned.values(), key=len)
                if len(assignments) >= self._works_on or len(busiest) <= self._works_on:
                    return
                assignment = busiest.pop()
            assignments.append(assignment)
            assignment.assign(worker)

    def _next_for(self, worker: W) -> Assignment[W]:
        """Take the best question for ``worker`` from those that wait."""
        own = self._topics.get(worker)
        others = {topic for other, topic in self._topics.items() if other != worker}
        best = min(self._waiting, key=lambda each: (each.topic != own, each.topic in others))
        self._waiting.remove(best)
        return best

"""Who works on what: a question goes to whoever is free, and waits behind none while somebody is. No Ray here."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

W = TypeVar("W", bound=Hashable)


class Place(Generic[W]):
    """Of one question: at ``worker``, until ``moved`` is done; then at another, which is in ``worker`` by then."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.given: asyncio.Future[None] = self._loop.create_future()
        self.moved: asyncio.Future[None] = self._loop.create_future()
        self._worker: W | None = None

    @property
    def worker(self) -> W:
        assert self._worker is not None, "take gives one"
        return self._worker

    def go(self, worker: W) -> None:
        if self._worker is not None:
            self.moved.set_result(None)
            self.moved = self._loop.create_future()
        elif not self.given.done():
            self.given.set_result(None)
        self._worker = worker


class Places(Generic[W]):
    """Workers, each with room for ``works_on`` questions at a time and ``margin`` more, which it begins in the order in
    which they came. Where nobody waits for a place any more, what is in the margin of one worker goes to another that
    is free."""

    def __init__(self, works_on: int, margin: int) -> None:
        self._works_on, self._room = works_on, works_on + margin
        self._line: deque[Place[W]] = deque()
        self._at: dict[W, list[Place[W]]] = {}
        self._refusal: Exception | None = None

    @property
    def workers(self) -> list[W]:
        return list(self._at)

    def add(self, worker: W) -> None:
        self._at[worker], self._refusal = [], None
        self._fill()

    def remove(self, worker: W) -> bool:
        """Whether it was there. Who has a place with it takes another."""
        return self._at.pop(worker, None) is not None

    async def take(self) -> Place[W]:
        """A place, in the order of asking. Raises what ``refuse`` says."""
        if self._refusal is not None:
            raise self._refusal
        place = Place[W]()
        self._line.append(place)
        self._fill()
        try:
            await place.given
        except BaseException:
            self.leave(place)
            raise
        return place

    def leave(self, place: Place[W]) -> None:
        """Whatever became of it."""
        for places in (self._line, *self._at.values()):
            if place in places:
                places.remove(place)
        self._fill()

    def refuse(self, error: Exception) -> None:
        """To all who wait or come, until there is a worker again."""
        self._refusal = error
        while self._line:
            place = self._line.popleft()
            if not place.given.done():
                place.given.set_exception(error)

    def _fill(self) -> None:
        while self._at:
            worker, places = min(self._at.items(), key=lambda item: len(item[1]))
            if self._line:
                if len(places) >= self._room:
                    return
                place = self._line.popleft()
            else:
                busiest = max(self._at.values(), key=len)
                if len(places) >= self._works_on or len(busiest) <= self._works_on:
                    return
                place = busiest.pop()
            places.append(place)
            place.go(worker)

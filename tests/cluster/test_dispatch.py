"""Who works on what: nobody idles while a question waits, and no worker holds more than it should."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finray.cluster.places import Places
from finray.core.errors import FinrayError


class Simulated:
    """Workers that take a question's time for it, one after the other in the order of their coming; counted in ticks
    of one event loop, which no busy machine makes longer."""

    def __init__(self, places: Places[str]) -> None:
        self._places = places
        self.did: dict[str, list[int]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self.holds: Counter[str] = Counter()
        self.most = 0

    def hire(self, worker: str) -> None:
        self.did[worker], self._turns[worker] = [], asyncio.Lock()
        self._places.add(worker)

    async def ask(self, ticks: int) -> None:
        place = await self._places.take()
        try:
            while not await self._at(place.worker, place.moved, ticks):
                continue
        finally:
            self._places.leave(place)

    async def _at(self, worker: str, moved: asyncio.Future[None], ticks: int) -> bool:
        self.holds[worker] += 1
        self.most = max(self.most, self.holds[worker])
        work = asyncio.create_task(self._work(worker, ticks))
        either: tuple[asyncio.Future[None], ...] = (work, moved)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        self.holds[worker] -= 1
        if work.done():
            return True
        work.cancel()
        return False

    async def _work(self, worker: str, ticks: int) -> None:
        async with self._turns[worker]:
            for _ in range(ticks):
                await asyncio.sleep(0)
            self.did[worker].append(ticks)


def simulate(works_on: int, margin: int, workers: int, questions: list[int]) -> Simulated:
    async def run() -> Simulated:
        simulated = Simulated(Places(works_on, margin))
        for number in range(workers):
            simulated.hire(str(number))
        await asyncio.wait_for(asyncio.gather(*(simulated.ask(ticks) for ticks in questions)), 30)
        return simulated

    return asyncio.run(run())


def test_two_workers_share_the_hard_questions_wherever_they_stand() -> None:
    hard, easy = 2_000, 20
    for questions in ([hard, easy] * 4, [hard] * 4 + [easy] * 4, [easy] * 4 + [hard] * 4, [hard, hard, hard, easy]):
        did = simulate(1, 1, 2, questions).did
        both = sorted(sum(ticks) for ticks in did.values())
        assert both[1] - both[0] <= hard, questions  # at the end one has at most its last question more


def test_the_last_question_does_not_wait_behind_another_where_a_worker_is_free() -> None:
    did = simulate(1, 1, 2, [50, 3_000, 2_000, 2_000]).did
    assert sorted(sum(ticks) for ticks in did.values()) == [3_000, 4_050]


@settings(deadline=None, max_examples=40)
@given(
    works_on=st.integers(1, 4),
    margin=st.integers(0, 2),
    workers=st.integers(1, 4),
    questions=st.lists(st.integers(0, 60), max_size=30),
)
def test_every_question_is_answered_once_and_no_worker_holds_more_than_its_room(
    works_on: int, margin: int, workers: int, questions: list[int]
) -> None:
    simulated = simulate(works_on, margin, workers, questions)
    assert sorted(ticks for did in simulated.did.values() for ticks in did) == sorted(questions)
    assert simulated.most <= works_on + margin


async def test_a_worker_that_goes_leaves_its_questions_to_the_others() -> None:
    places: Places[str] = Places(1, 1)
    places.add("a")
    first, second = await places.take(), await places.take()
    third = asyncio.create_task(places.take())
    await asyncio.sleep(0)
    assert not third.done()
    assert places.remove("a")
    assert not places.remove("a")
    places.leave(first)
    places.leave(second)
    places.add("b")
    assert (await third).worker == "b"


async def test_who_is_cancelled_in_line_takes_no_place() -> None:
    places: Places[str] = Places(1, 0)
    places.add("a")
    first = await places.take()
    second, third = asyncio.create_task(places.take()), asyncio.create_task(places.take())
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.sleep(0)
    places.leave(first)
    assert (await third).worker == "a"


async def test_without_workers_everybody_is_refused_until_one_comes() -> None:
    places: Places[str] = Places(1, 0)
    waiting = asyncio.create_task(places.take())
    await asyncio.sleep(0)
    places.refuse(FinrayError("none comes up"))
    for asked in (waiting, places.take()):
        with pytest.raises(FinrayError, match="none comes up"):
            await asked
    places.add("a")
    await places.take()

"""No worker idles while a question waits, and none holds more than its capacity."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finray.cluster.dispatch import Dispatcher
from finray.core.errors import FinrayError


class Simulated:
    """Workers that answer questions first in, first out. Time is counted in ticks of the event loop, so that a busy
    machine makes no difference."""

    def __init__(self, dispatcher: Dispatcher[str]) -> None:
        self._dispatcher = dispatcher
        self.did: dict[str, list[int]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self.holds: Counter[str] = Counter()
        self.most = 0

    def hire(self, worker: str) -> None:
        self.did[worker], self._turns[worker] = [], asyncio.Lock()
        self._dispatcher.add(worker)

    async def ask(self, ticks: int) -> None:
        assignment = await self._dispatcher.acquire()
        try:
            while not await self._at(assignment.worker, assignment.moved, ticks):
                continue
        finally:
            self._dispatcher.release(assignment)

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


def simulate(works_on: int, prefetch: int, workers: int, questions: list[int]) -> Simulated:
    async def run() -> Simulated:
        simulated = Simulated(Dispatcher(works_on, prefetch))
        for number in range(workers):
            simulated.hire(str(number))
        await asyncio.wait_for(asyncio.gather(*(simulated.ask(ticks) for ticks in questions)), 30)
        return simulated

    return asyncio.run(run())


def test_two_workers_share_the_hard_questions_in_any_order() -> None:
    hard, easy = 2_000, 20
    for questions in ([hard, easy] * 4, [hard] * 4 + [easy] * 4, [easy] * 4 + [hard] * 4, [hard, hard, hard, easy]):
        did = simulate(1, 1, 2, questions).did
        both = sorted(sum(ticks) for ticks in did.values())
        assert both[1] - both[0] <= hard, questions  # at the end one has at most its last question more


def test_the_last_question_does_not_wait_behind_another_if_a_worker_is_free() -> None:
    did = simulate(1, 1, 2, [50, 3_000, 2_000, 2_000]).did
    assert sorted(sum(ticks) for ticks in did.values()) == [3_000, 4_050]


@settings(deadline=None, max_examples=40)
@given(
    works_on=st.integers(1, 4),
    prefetch=st.integers(0, 2),
    workers=st.integers(1, 4),
    questions=st.lists(st.integers(0, 60), max_size=30),
)
def test_every_question_is_answered_once_and_no_worker_holds_more_than_its_capacity(
    works_on: int, prefetch: int, workers: int, questions: list[int]
) -> None:
    simulated = simulate(works_on, prefetch, workers, questions)
    assert sorted(ticks for did in simulated.did.values() for ticks in did) == sorted(questions)
    assert simulated.most <= works_on + prefetch


async def test_questions_of_a_removed_worker_go_to_others() -> None:
    dispatcher: Dispatcher[str] = Dispatcher(1, 1)
    dispatcher.add("a")
    first, second = await dispatcher.acquire(), await dispatcher.acquire()
    third = asyncio.create_task(dispatcher.acquire())
    await asyncio.sleep(0)
    assert not third.done()
    assert dispatcher.remove("a")
    assert not dispatcher.remove("a")
    dispatcher.release(first)
    dispatcher.release(second)
    dispatcher.add("b")
    assert (await third).worker == "b"


async def test_a_cancelled_question_takes_no_capacity() -> None:
    dispatcher: Dispatcher[str] = Dispatcher(1, 0)
    dispatcher.add("a")
    first = await dispatcher.acquire()
    second, third = asyncio.create_task(dispatcher.acquire()), asyncio.create_task(dispatcher.acquire())
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.sleep(0)
    dispatcher.release(first)
    assert (await third).worker == "a"


async def test_after_a_failure_every_question_fails_until_a_worker_is_added() -> None:
    dispatcher: Dispatcher[str] = Dispatcher(1, 0)
    waiting = asyncio.create_task(dispatcher.acquire())
    await asyncio.sleep(0)
    dispatcher.fail(FinrayError("none comes up"))
    for asked in (waiting, dispatcher.acquire()):
        with pytest.raises(FinrayError, match="none comes up"):
            await asked
    dispatcher.add("a")
    await dispatcher.acquire()


async def test_a_worker_keeps_its_topic() -> None:
    dispatcher = Dispatcher[str](works_on=1, prefetch=0)
    for worker in ("first", "second"):
        dispatcher.add(worker)
    now = [await dispatcher.acquire(topic) for topic in ("Acme", "Brill")]
    waiting = [asyncio.create_task(dispatcher.acquire(topic)) for topic in ("Brill", "Brill", "Acme")]
    await asyncio.sleep(0)
    dispatcher.release(now[0])
    acme = await waiting[2]
    assert acme.worker == now[0].worker
    dispatcher.release(now[1])
    assert (await waiting[0]).worker == now[1].worker
    dispatcher.release(acme)  # no other question about Acme waits
    assert (await waiting[1]).worker == now[0].worker


async def test_a_worker_whose_topic_is_done_takes_one_that_no_other_has() -> None:
    dispatcher = Dispatcher[str](works_on=1, prefetch=0)
    for worker in ("first", "second"):
        dispatcher.add(worker)
    now = [await dispatcher.acquire(topic) for topic in ("Acme", "Brill")]
    waiting = [asyncio.create_task(dispatcher.acquire(topic)) for topic in ("Brill", "Cord")]
    await asyncio.sleep(0)
    dispatcher.release(now[0])
    assert (await waiting[1]).worker == now[0].worker
    assert not waiting[0].done()
    waiting[0].cancel()

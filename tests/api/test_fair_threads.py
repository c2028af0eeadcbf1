from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterator

import pytest

from finray.api.errors import ApiError
from finray.api.fair_threads import FairThreads

Make = Callable[..., FairThreads]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[FairThreads] = []

    def threads(number: int, *, per_key: int = 100, waiting: int = 1000) -> FairThreads:
        made.append(FairThreads("reads", number, per_key=per_key, waiting=waiting))
        return made[-1]

    yield threads
    for each in made:
        each.close()


class Held:
    """Work that blocks until released; records what began, in order."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun: list[str] = []

    def __call__(self, name: str) -> Callable[[], str]:
        def work() -> str:
            self.begun.append(name)
            assert self.go.wait(20)
            return name

        return work

    async def until(self, count: int) -> None:
        while len(self.begun) < count:
            await asyncio.sleep(0.005)


async def test_another_key_waits_for_one_job_not_for_all_queued_before_it(make: Make) -> None:
    threads, held = make(1), Held()
    jobs = [asyncio.create_task(threads.run("a", held(f"a{n}"))) for n in range(16)]
    await held.until(1)
    jobs += [asyncio.create_task(threads.run(key, held(f"{key}0"))) for key in "bc"]
    await asyncio.sleep(0)
    held.go.set()
    assert await asyncio.gather(*jobs) == [*(f"a{n}" for n in range(16)), "b0", "c0"]
    assert set(held.begun[1:4]) == {"a1", "b0", "c0"}
    assert held.begun[4:] == [f"a{n}" for n in range(2, 16)]


async def test_one_key_never_gets_the_last_thread(make: Make) -> None:
    threads, held = make(2), Held()
    jobs = [asyncio.create_task(threads.run("a", held("a"))) for _ in range(4)]
    await held.until(1)
    assert await threads.run("b", lambda: "at once") == "at once"
    assert held.begun == ["a"]
    held.go.set()
    await asyncio.gather(*jobs)


async def test_work_past_the_limits_is_refused_at_once_with_a_retry_time(make: Make) -> None:
    threads, held = make(1, per_key=3, waiting=4), Held()
    jobs = [asyncio.create_task(threads.run("a", held("a"))) for _ in range(3)]
    jobs += [asyncio.create_task(threads.run("b", held("b"))) for _ in range(2)]
    await held.until(1)
    for key, code in (("a", "concurrency_limit"), ("c", "overloaded")):
        with pytest.raises(ApiError) as caught:
            await threads.run(key, held(key))
        assert (caught.value.status, caught.value.code) == (429, code)
        assert int(caught.value.headers["Retry-After"]) >= 1
    held.go.set()
    await asyncio.gather(*jobs)
    assert await threads.run("a", lambda: 1) == 1


async def test_a_cancelled_job_leaves_the_queue_and_does_not_run(make: Make) -> None:
    threads, held = make(1, per_key=2), Held()
    first, second = (asyncio.create_task(threads.run("a", held(name))) for name in ("first", "second"))
    await held.until(1)
    for task in (first, second):
        task.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    third = asyncio.create_task(threads.run("a", held("third")))  # the first still runs, the second is gone
    with pytest.raises(ApiError):
        await asyncio.gather(threads.run("a", held("fourth")))
    held.go.set()
    assert await third == "third"
    assert held.begun == ["first", "third"]


async def test_an_error_reaches_the_caller_and_the_thread_continues(make: Make) -> None:
    threads = make(1)
    with pytest.raises(ZeroDivisionError):
        await threads.run("a", lambda: 1 // 0)
    assert await threads.run("a", lambda: 1) == 1


def test_no_slot_is_lost_under_concurrent_loops_and_cancellations(make: Make) -> None:
    """Several concurrent event loops, jobs cancelled at any moment: in the end the capacity is as at the start."""
    threads, keys = make(3, per_key=8, waiting=12), "abcd"

    async def one(key: str, chance: random.Random) -> None:
        task = asyncio.create_task(threads.run(key, lambda: None))
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(0)
        if chance.random() < 0.5:
            task.cancel()
        (result,) = await asyncio.gather(task, return_exceptions=True)
        assert result is None or isinstance(result, (ApiError, asyncio.CancelledError)), result

    async def many(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(40):
            await asyncio.gather(*(one(chance.choice(keys), chance) for _ in range(10)))

    loops = [threading.Thread(target=lambda seed=seed: asyncio.run(many(seed))) for seed in range(4)]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join(60)

    async def full() -> None:
        held = Held()
        jobs = [asyncio.create_task(threads.run(key, held(key))) for key in "ab" for _ in range(7)]
        await held.until(3)
        held.go.set()
        assert len(await asyncio.gather(*jobs)) == 14

    asyncio.run(full())

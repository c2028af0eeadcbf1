from __future__ import annotations

import itertools
import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from finray.edgar.limiter import LocalLimiter, Pacer


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@given(
    st.floats(0.5, 50),
    st.lists(st.one_of(st.floats(0, 2), st.floats(0, 5).map(lambda pause: (pause,))), max_size=60),
)
def test_requests_are_spaced_and_none_falls_into_a_pause(per_second: float, steps: list[float | tuple[float]]) -> None:
    clock = Clock()
    pacer = Pacer(per_second, clock)
    granted: list[float] = []
    paused_until = 0.0
    for step in steps:
        if isinstance(step, tuple):
            pacer.pause(step[0])
            paused_until = max(paused_until, clock.now + step[0])
            continue
        clock.now += step
        if pacer.ask() == 0.0:
            assert clock.now >= paused_until
            granted.append(clock.now)
    assert all(later - earlier >= 1 / per_second - 1e-6 for earlier, later in itertools.pairwise(granted))


def test_a_request_is_granted_after_the_wait_that_was_asked_for() -> None:
    clock = Clock()
    pacer = Pacer(4, clock)
    assert pacer.ask() == 0.0
    assert pacer.ask() == 0.25
    pacer.pause(10)
    clock.now += pacer.ask()
    assert clock.now == 110.0
    assert pacer.ask() == 0.0


def test_concurrent_refusals_are_one_pause() -> None:
    clock = Clock()
    pacer = Pacer(8, clock)
    pacer.pause(600)
    pacer.pause(600)
    assert pacer.pauses == 1
    clock.now += 700
    pacer.pause(600)
    assert pacer.pauses == 2


def test_many_threads_share_one_pace() -> None:
    limiter = LocalLimiter(per_second=50)
    times: list[float] = []

    def work() -> None:
        for _ in range(5):
            limiter.acquire()
            times.append(time.monotonic())

    started = time.monotonic()
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) == 30
    assert max(times) - started >= 29 / 50


def test_the_slowest_pace_applies() -> None:
    clock = Clock()
    pacer = Pacer(10, clock)
    pacer.slow_down(2)
    pacer.slow_down(5)
    assert pacer.ask() == 0.0
    assert pacer.ask() == 0.5

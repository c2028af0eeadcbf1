"""One pace for a whole cluster."""

from __future__ import annotations

import itertools
import time

import pytest
import ray

from finray.cluster.edgar_limiter import ClusterLimiter

pytestmark = [pytest.mark.ray, pytest.mark.slow]
PER_SECOND = 20.0


def test_workers_share_one_pace_and_one_pause_and_a_lost_limiter_is_replaced(local_ray: None) -> None:
    @ray.remote(num_cpus=0.4)
    def work(limiter: ClusterLimiter) -> list[float]:
        times = []
        for _ in range(6):
            limiter.acquire()
            times.append(time.time())
        return times

    mine, other = ClusterLimiter(PER_SECOND * 100), ClusterLimiter(PER_SECOND)  # the slowest decides
    times = sorted(itertools.chain(*ray.get([work.remote(limiter) for limiter in (mine, other, mine, other)])))
    assert len(times) == 24
    assert times[-1] - times[0] >= 23 / PER_SECOND * 0.9
    for index in range(len(times) - 10):
        assert times[index + 10] - times[index] >= 10 / PER_SECOND * 0.5, "no burst"

    other.pause(0.6)
    started = time.monotonic()
    mine.acquire()
    assert time.monotonic() - started > 0.5
    assert mine.pauses == 1

    ray.kill(ray.get_actor("edgar-limiter", namespace="finray"))
    mine.acquire()
    other.acquire()

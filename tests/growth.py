"""Checks that work grows in proportion to its input. Seconds differ between machines, ratios hardly."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Final

TIMES: Final = 4
_AT_MOST: Final = 10.0
"""Factor in time for an input that is ``TIMES`` as long: quadratic work takes 16 times as long, linear work 4."""
_NOISE_S: Final = 0.02
_TRIES: Final = 3


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """``work(size)`` takes little more than ``TIMES`` the processor time of a quarter of the size, in one of a few
    tries: others may use the processor too."""
    tried = []
    for _ in range(_TRIES):
        short, long = _seconds(work, size // TIMES), _seconds(work, size)
        if long <= _AT_MOST * short + _NOISE_S:
            return
        tried.append((short, long))
    raise AssertionError(f"seconds of processor time for {size // TIMES} and {size}: {tried}")


def _seconds(work: Callable[[int], object], size: int) -> float:
    gc.disable()  # what earlier tests left would be collected at the cost of this one
    try:
        started = time.thread_time()
        work(size)
        return time.thread_time() - started
    finally:
        gc.enable()

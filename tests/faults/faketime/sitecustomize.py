"""Sleeping under libfaketime, whose ``clock_nanosleep`` fails with EINVAL when the monotonic clock is left alone."""

import select
import time
from typing import SupportsIndex


def _sleep(seconds: float | SupportsIndex, /) -> None:
    select.select([], [], [], float(seconds))


time.sleep = _sleep

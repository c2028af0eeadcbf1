"""Retries with waits between the attempts, by stamina."""

from __future__ import annotations

import datetime as dt
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterator
from email.utils import parsedate_to_datetime
from typing import Protocol

import stamina

# stamina warns of each retry. Without a handler for its logger, Python would print every warning on standard error.
logging.getLogger("stamina").addHandler(logging.NullHandler())


class Attempts(Protocol):
    """Loop over it with ``for`` or ``async for``, and make each attempt in ``with attempt:``."""

    def __iter__(self) -> Iterator[stamina.Attempt]: ...
    def __aiter__(self) -> AsyncIterator[stamina.Attempt]: ...


def attempts(
    tries: int,
    on: Callable[[Exception], bool | float],
    *,
    wait_s: float,
    longest_wait_s: float,
    jitter_s: float,
    timeout_s: float | None = None,
) -> Attempts:
    """Up to ``tries`` attempts, as long as ``on`` accepts the error of the last one; the final error is raised.

    Waits ``wait_s`` before the second attempt, twice as long before each further one, with up to ``jitter_s`` on top,
    but at most ``longest_wait_s``. If ``on`` returns a number, it is the wait. No attempt begins later than
    ``timeout_s`` after the first.
    """
    return stamina.retry_context(
        on=on, attempts=tries, timeout=timeout_s, wait_initial=wait_s, wait_max=longest_wait_s, wait_jitter=jitter_s
    )


def retry_after(header: str | None, now: float | None = None) -> float | None:
    """Seconds that ``Retry-After`` asks to wait, in either form of RFC 9110, section 10.2.3; None if it cannot be read.

    A date is compared with ``now``, the sender's clock (seconds since the epoch), or with this machine's.
    """
    if header is None:
        return None
    if re.fullmatch(r"\s*\d{1,9}(?:\.\d{1,9})?\s*", header, re.ASCII):
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):  # a year or an offset of many digits overflows
        return None
    if moment.tzinfo is None:  # "-0000", which is UTC
        moment = moment.replace(tzinfo=dt.UTC)
    return max(0.0, moment.timestamp() - (dt.datetime.now(dt.UTC).timestamp() if now is None else now))

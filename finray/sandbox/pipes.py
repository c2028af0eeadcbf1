"""Reads from and writes to a child that may hang, flood or die: each call has a deadline (``time.monotonic``)."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence
from typing import IO


def send(stream: IO[bytes] | None, parts: Sequence[bytes], deadline: float) -> None:
    """Write all of ``parts``. Raises BrokenPipeError, TimeoutError."""
    assert stream is not None
    descriptor = stream.fileno()
    os.set_blocking(descriptor, False)  # a stopped child does not read
    poll = select.poll()  # unlike select(), without a limit on descriptors
    poll.register(descriptor, select.POLLOUT)
    for part in parts:
        left = memoryview(part)
        while left:
            _wait(poll, deadline)
            left = left[os.write(descriptor, left[: select.PIPE_BUF]) :]


def receive(stream: IO[bytes] | None, most: int, deadline: float) -> bytes:
    """At most ``most`` bytes, fewer only if the stream ends. Raises TimeoutError."""
    assert stream is not None
    descriptor = stream.fileno()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    parts: list[bytes] = []
    left = most
    while left:
        _wait(poll, deadline)
        part = os.read(descriptor, min(left, 1 << 20))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def receive_exactly(stream: IO[bytes] | None, length: int, deadline: float) -> bytes:
    """``length`` bytes. Raises EOFError, TimeoutError."""
    content = receive(stream, length, deadline)
    if len(content) < length:
        raise EOFError
    return content


def _wait(poll: select.poll, deadline: float) -> None:
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError

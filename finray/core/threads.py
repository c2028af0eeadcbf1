"""Awaits blocking work that runs in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def run_to_end(work: Callable[[], T]) -> T:
    """The result of ``work``, run in a thread. If canceled meanwhile, wait for the end of ``work`` first.

    A canceled ``asyncio.to_thread`` leaves its thread running, and whatever the thread opens then stays open.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise

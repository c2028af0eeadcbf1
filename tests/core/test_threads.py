"""Blocking work that must end before its task does."""

from __future__ import annotations

import asyncio
import threading

import pytest

from finray.core.threads import run_to_end


def test_a_canceled_task_waits_for_its_thread() -> None:
    began, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        go_on.wait(10)
        ended.set()

    async def main() -> None:
        task = asyncio.create_task(run_to_end(work))
        await asyncio.to_thread(began.wait, 10)
        task.cancel()
        await asyncio.sleep(0.05)
        assert not task.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(main())


def test_results_and_errors_are_passed_on() -> None:
    assert asyncio.run(run_to_end(lambda: 3)) == 3
    with pytest.raises(ZeroDivisionError):
        asyncio.run(run_to_end(lambda: 1 // 0))

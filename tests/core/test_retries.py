from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from finray.core.retries import attempts, retry_after


def test_a_task_that_is_cancelled_in_an_attempt_ends_without_another() -> None:
    begun = 0

    async def work() -> None:
        nonlocal begun
        async for attempt in attempts(
            3, lambda error: isinstance(error, OSError), wait_s=0.0, longest_wait_s=0.0, jitter_s=0.0
        ):
            with attempt:
                begun += 1
                await asyncio.sleep(60)

    async def cancelled() -> None:
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert begun == 1


def test_retries_print_nothing() -> None:
    code = """
from finray.core.retries import attempts, retry_after
for attempt in attempts(2, lambda error: True, wait_s=0.0, longest_wait_s=0.0, jitter_s=0.0):
    with attempt:
        assert attempt.num == 2
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert (run.stdout, run.stderr) == ("", "")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        (" 2.5 ", 2.5),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 20.0),
        ("Thu, 01 Jan 1970 00:02:00 -0000", 20.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("nan", None),
        ("9" * 20, None),
        ("Thu, 01 Jan 99999999999 00:00:00 GMT", None),
        ("Thu, 01 Jan 1970 00:00:00 +99999999999999999999", None),
        ("", None),
        (None, None),
    ],
)
def test_a_wait_that_is_asked_for_is_a_number_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, now=100.0) == seconds

"""The watchdog over engines: whatever a question does, it ends in time, alone, and the others are answered."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from finray.core.errors import EngineLostError, EngineUnavailableError, IndexMissingError, QuestionTimeoutError
from finray.core.journal import StageReport
from finray.core.predictions import TokenUsage
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.engines.pool import EnginePool, Watch
from finray.engines.source import EngineSource
from finray.models.chat import ChatReply, Message
from tests.engines import wild
from tests.weightless import weightless

MakePool = Callable[..., EnginePool]


@pytest.fixture(scope="module")
def settings() -> Settings:
    return weightless()


@pytest.fixture
def make(settings: Settings, tmp_path: Path) -> Iterator[MakePool]:
    """Pools of wild engines. ``seconds`` is what a question may take."""
    with ExitStack() as stack:

        def start(seconds: float = 60.0, *, index: Path = tmp_path, grace: float = 0.3, **options: Any) -> EnginePool:
            source = EngineSource(str(index), settings, frozenset(options.get("outsiders", ())), wild.OPENING)
            pool = EnginePool(source, Watch(seconds, "the.setting", grace), **options)
            stack.callback(pool.close)
            return pool

        yield start


async def ask(pool: EnginePool, what: str) -> int:
    """The process that answered."""
    return int((await pool.answer(Question(what, what))).answer)


async def test_a_question_that_never_ends_ends_at_its_limit_and_the_others_are_answered(
    make: MakePool, capfd: pytest.CaptureFixture[str]
) -> None:
    pool = make(1.5, grace=1.5)  # time for the traceback on a busy machine
    first = await ask(pool, "hello")
    stuck = asyncio.create_task(ask(pool, "regex"))
    after = [asyncio.create_task(ask(pool, what)) for what in ("one", "two")]
    longest, last = 0.0, time.monotonic()
    while not stuck.done():
        await asyncio.sleep(0.02)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    assert longest < 1.2  # this process stays responsive while the child is blocked
    with pytest.raises(QuestionTimeoutError, match=r"not answered after 1.5 s \(the.setting\)"):
        await stuck
    second, *same = await asyncio.gather(*after)
    assert second != first
    assert same == [second]
    assert not psutil.pid_exists(first)
    assert "in hold_the_interpreter" in capfd.readouterr().err  # the traceback of the killed child


@pytest.mark.parametrize("what", ["sleep 600", pytest.param("loop", marks=pytest.mark.slow)])
async def test_whatever_it_does_it_ends(make: MakePool, what: str) -> None:
    pool = make(0.5)
    with pytest.raises(QuestionTimeoutError):
        await ask(pool, what)
    await ask(pool, "hello")
    assert pool.busy == 0


async def test_an_abandoned_question_ends_whatever_it_does(make: MakePool) -> None:
    pool = make()
    first = await ask(pool, "hello")
    stuck = asyncio.create_task(ask(pool, "regex"))
    waiting = asyncio.create_task(ask(pool, "in line"))
    await asyncio.sleep(0.2)
    stuck.cancel()
    waiting.cancel()
    assert await ask(pool, "hello") != first
    assert pool.busy == 0


async def test_a_question_that_stops_when_asked_to_costs_no_process(make: MakePool) -> None:
    pool = make(0.5, in_flight=4)
    first = await ask(pool, "hello")
    with pytest.raises(QuestionTimeoutError):
        await ask(pool, "wait 60")
    given_up = asyncio.create_task(ask(pool, "wait 60"))
    await asyncio.sleep(0.1)
    given_up.cancel()
    assert await ask(pool, "hello") == first


async def test_a_question_that_ends_its_process_is_tried_twice_and_its_company_is_answered(make: MakePool) -> None:
    pool = make(in_flight=4)
    company = [asyncio.create_task(ask(pool, "wait 0.5")) for _ in range(3)]
    with pytest.raises(EngineLostError, match="exit status 3"):
        await ask(pool, "die")
    assert len(set(await asyncio.gather(*company))) == 1


@pytest.mark.slow
async def test_of_many_in_one_process_the_one_that_computes_is_to_blame(make: MakePool) -> None:
    pool = make(1.5, in_flight=8)
    before = [asyncio.create_task(ask(pool, "wait 0.9")) for _ in range(2)]
    await asyncio.sleep(0.1)
    stuck = asyncio.create_task(ask(pool, "regex"))
    after = [asyncio.create_task(ask(pool, "wait 0.5")) for _ in range(4)]
    with pytest.raises(QuestionTimeoutError):
        await stuck
    await asyncio.gather(*before, *after)  # none of them is out of time for what the one took


async def test_reports_and_bugs_reach_the_caller(make: MakePool) -> None:
    pool = make()
    seen: list[float | None] = []

    def observe(report: StageReport) -> None:
        assert asyncio.get_running_loop() is here
        seen.append(report.seconds)

    here = asyncio.get_running_loop()
    first = await pool.answer(Question("q", "hello"), observe)
    assert seen == [None, 0.0]
    with pytest.raises(KeyError, match="fiscal_year") as caught:
        await ask(pool, "bug")
    assert "wild.py" in "".join(caught.value.__notes__)
    assert await ask(pool, "hello") == int(first.answer)


async def test_a_child_that_is_killed_from_outside_is_replaced(make: MakePool) -> None:
    pool = make()
    asked = asyncio.create_task(ask(pool, "sleep 0.5"))
    await pool.ready()
    (before,) = pool.pids
    await asyncio.sleep(0.1)
    os.kill(before, signal.SIGKILL)
    assert await asked != before


async def test_each_process_has_its_question_and_a_hanging_one_delays_no_other(make: MakePool) -> None:
    pool = make(processes=2)
    hung = asyncio.create_task(ask(pool, "regex"))
    while not pool.busy:
        await asyncio.sleep(0.01)
    assert len({await ask(pool, "hello") for _ in range(4)}) == 1
    hung.cancel()


async def test_versions_are_opened_dropped_and_opened_again_when_asked_for(make: MakePool) -> None:
    pool = make(tables={"filings": 1})
    await pool.ready()
    await pool.open({"filings": 2})
    pool.drop({"filings": 1})
    for version in (2, 1):
        assert (await pool.answer(Question("q", "version"), tables={"filings": version})).unit == str(version)


async def test_callers_get_the_reason_why_no_engine_starts(make: MakePool, tmp_path: Path) -> None:
    pool = make(index=tmp_path / "nowhere")
    with pytest.raises(IndexMissingError, match="nowhere"):
        await pool.ready()
    with pytest.raises(IndexMissingError):
        await ask(pool, "hello")
    (tmp_path / "nowhere").mkdir()  # it is tried again
    while not pool.pids:
        await asyncio.sleep(0.05)
    await ask(pool, "hello")


async def test_a_closed_pool_leaves_no_process_and_no_waiting_caller(make: MakePool) -> None:
    pool = make(grace=60.0)
    hung = asyncio.create_task(ask(pool, "regex"))
    await pool.ready()
    (child,) = pool.pids
    await asyncio.sleep(0.1)
    pool.close()
    assert not psutil.pid_exists(child)
    with pytest.raises(EngineUnavailableError):
        await hung
    with pytest.raises(EngineUnavailableError):
        await ask(pool, "hello")


async def test_the_parent_calls_outside_models(make: MakePool) -> None:
    asked: list[Any] = []
    cancelled = asyncio.Event()

    async def chat(messages: tuple[Message, ...], schema: object) -> ChatReply:
        asked.append((asyncio.get_running_loop(), messages[0].content))
        try:
            await asyncio.sleep(60 if messages[0].content == "slowly" else 0)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return ChatReply("a reply", TokenUsage())

    pool = make(outsiders={"chat": chat}, outside_loop=asyncio.get_running_loop(), in_flight=2)
    assert (await pool.answer(Question("q", "chat hello"))).answer == "a reply"
    assert asked == [(asyncio.get_running_loop(), "hello")]
    slow = asyncio.create_task(pool.answer(Question("q", "chat slowly")))
    while len(asked) < 2:
        await asyncio.sleep(0.01)
    slow.cancel()
    await asyncio.wait_for(cancelled.wait(), 20)


class _TwoArgumentsError(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")


async def test_an_error_of_an_outside_model_that_cannot_be_pickled_reaches_the_caller(make: MakePool) -> None:
    async def chat(messages: tuple[Message, ...], schema: object) -> ChatReply:
        raise _TwoArgumentsError(500, messages[0].content)

    pool = make(10.0, outsiders={"chat": chat})
    with pytest.raises(RuntimeError, match="_TwoArgumentsError: 500: hello"):
        await pool.answer(Question("q", "chat hello"))
    assert await ask(pool, "hello") in pool.pids

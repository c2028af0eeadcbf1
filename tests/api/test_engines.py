"""Versions of the index under a running service, and work that is given up."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.api.engines import EngineThreads, Ticket, engine_maker
from finray.api.errors import ApiError
from finray.api.service import Asked, AskedRetrieval, LocalService
from finray.core.journal import Journal
from finray.core.replies import AnswerEvent, ServiceEvent
from finray.core.settings import Settings
from finray.core.types import Question
from finray.engine import Engine
from finray.index.in_process import index_in_process
from finray.index.reader import IndexReader
from finray.models.encoder import Vectors
from finray.models.hash_encoder import HashEncoder

ASKED = "What was the total revenue of CLDVC in FY2022?"


class Held(HashEncoder):
    """An encoder that waits for permission, so that a question can be caught in the middle."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()
        self.go = threading.Event()
        self.hold = False

    def encode_query(self, text: str) -> Vectors:
        if self.hold:
            self.waiting.set()
            assert self.go.wait(20)
        return super().encode_query(text)


@pytest.fixture
def encoder() -> Held:
    return Held()


@pytest.fixture
def index(sample_index: str, tmp_path: Path) -> str:
    return str(shutil.copytree(sample_index, tmp_path / "index"))


@pytest.fixture
def service(index: str, local_settings: Settings, encoder: Held) -> LocalService:
    return LocalService(index, local_settings, engine_maker(encoder))


async def events(service: LocalService, asked: Asked) -> list[ServiceEvent]:
    return [event async for event in service.answer(asked)]


def one(question: str = ASKED, **options: Any) -> Asked:
    return Asked((Question("1", question),), **options)


def add_filings(index: str, folder: Path, settings: Settings, pattern: str) -> None:
    sources = [str(path) for path in sorted((folder / "filings").glob(pattern))]
    assert index_in_process(sources, index, settings).failed == 0


async def test_a_new_version_is_taken_once_it_stands_still_and_requests_end_on_theirs(
    service: LocalService, index: str, sample_folder: Path, local_settings: Settings, encoder: Held
) -> None:
    before = await service.status()
    assert not await service.look()
    encoder.hold = True
    old = asyncio.create_task(events(service, one("Which risks does CLDVC name?", stream=True)))
    assert await asyncio.to_thread(encoder.waiting.wait, 20)
    await asyncio.to_thread(add_filings, index, sample_folder, local_settings, "*-2022-q2-10q*")
    assert not await service.look()  # seen for the first time
    assert await service.look()
    after = await service.status()
    assert after.filings > before.filings
    assert after.index_version != before.index_version
    encoder.hold = False
    encoder.go.set()
    versions = {getattr(event, "index_version", before.index_version) for event in await old}
    assert versions == {before.index_version}
    (answer,) = [event for event in await events(service, one()) if isinstance(event, AnswerEvent)]
    assert answer.index_version == after.index_version


async def test_an_index_that_goes_away_leaves_the_service_as_it_was(service: LocalService, index: str) -> None:
    await service.start()
    shutil.rmtree(index)
    before = service.index
    from finray.core.errors import IndexMissingError

    with pytest.raises(IndexMissingError):
        await service.look()
    assert service.index is before
    await service.stop()


async def test_work_that_nobody_waits_for_ends_at_the_next_stage(service: LocalService, encoder: Held) -> None:
    seen: list[str] = []
    encoder.hold = True

    async def read() -> None:
        async for event in service.answer(one("Which risks does CLDVC name?", stream=True)):
            seen.append(event.name)  # noqa: PERF401 - what came before the end counts too

    reading = asyncio.create_task(read())
    assert await asyncio.to_thread(encoder.waiting.wait, 20)
    reading.cancel()
    await asyncio.sleep(0.05)
    encoder.hold = False
    encoder.go.set()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert "started" in seen
    assert "answer" not in seen
    answer = (await events(service, one()))[0]
    assert isinstance(answer, AnswerEvent)
    assert answer.prediction.status == "answered"


async def test_past_capacity_questions_are_refused_at_once_and_none_is_lost(
    index: str, local_settings: Settings, encoder: Held
) -> None:
    serving = local_settings.serving.model_copy(update={"max_in_flight": 2})
    service = LocalService(index, local_settings.model_copy(update={"serving": serving}), engine_maker(encoder))
    encoder.hold = True
    asked = [asyncio.create_task(events(service, one(f"Which risks of CLDVC? {n}"))) for n in range(2)]
    assert await asyncio.to_thread(encoder.waiting.wait, 20)
    with pytest.raises(ApiError, match="max_in_flight") as caught:
        await events(service, one())
    assert (caught.value.status, caught.value.code) == (429, "overloaded")
    with pytest.raises(ApiError):
        await service.retrieve(AskedRetrieval("q"))
    encoder.hold = False
    encoder.go.set()
    assert all(found[0].name == "answer" for found in await asyncio.gather(*asked))
    assert (await events(service, one()))[0].name == "answer"


async def test_questions_are_spread_over_threads_with_an_engine_each(
    index: str, local_settings: Settings, encoder: Held
) -> None:
    serving = local_settings.serving.model_copy(update={"threads": 2})
    service = LocalService(index, local_settings.model_copy(update={"serving": serving}), engine_maker(encoder))
    first, second = service.index.engines
    assert first is not second
    encoder.hold = True
    held = asyncio.create_task(events(service, one("Which risks of CLDVC?")))
    assert await asyncio.to_thread(encoder.waiting.wait, 20)
    encoder.hold = False
    assert (await events(service, one()))[0].name == "answer"  # while the other thread waits
    encoder.go.set()
    await held


async def test_an_error_in_a_thread_is_the_callers() -> None:
    threads = EngineThreads(1)

    async def fail(thread: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await threads.run(Ticket(), fail)
    assert threads.busy == 0
    threads.close()


async def test_a_failing_retrieval_is_an_error_of_the_service(service: LocalService) -> None:
    with pytest.raises(ApiError) as caught:
        await service.retrieve(AskedRetrieval("a" * 9_000))
    assert caught.value.status == 422


async def test_rerankers_and_chat_models_can_be_replaced(index: str, local_settings: Settings) -> None:
    made: list[object] = []

    class Same:
        def scores(self, query: str, texts: Sequence[str]) -> Any:
            made.append(query)
            return HashEncoder().encode_passages(texts)[:, 0]

    settings = local_settings.model_copy(
        update={
            "retrieval": local_settings.retrieval.model_copy(update={"method": "dense_rerank"}),
            "passage_reranker": local_settings.passage_reranker.model_copy(update={"model": "other"}),
        }
    )
    make: Callable[[IndexReader, Settings], Engine] = engine_maker(HashEncoder(), rerankers=lambda chosen: Same())
    engine = make(IndexReader.open(index, settings), settings)
    await engine.retrieve(ASKED)
    assert made


def test_journals_tell_nobody_without_an_observer() -> None:
    async def work() -> int:
        return 1

    assert asyncio.run(Journal().stage("answer", 0, work)) == 1

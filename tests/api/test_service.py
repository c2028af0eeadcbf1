"""The service over engines in child processes: index versions, cancelled work, capacity."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from finray.api.errors import ApiError
from finray.api.service import Asked, AskedRetrieval, LocalService
from finray.core.errors import IndexMissingError
from finray.core.questions import Question
from finray.core.replies import AnswerEvent, ServiceEvent, StartedEvent
from finray.core.settings import Settings
from finray.index.job.in_process import index_in_process
from tests.engines import held, wild

ASKED = "What was the total revenue of CLDVC in FY2022?"
RISKS = "Which risks does CLDVC name?"


@pytest.fixture
def index(sample_index: str, tmp_path: Path) -> str:
    return str(shutil.copytree(sample_index, tmp_path / "index"))


@pytest.fixture
def hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> held.Hold:
    """The hold of ``service``."""
    monkeypatch.setenv(held.FOLDER, str(tmp_path))
    return held.Hold(tmp_path)


@pytest.fixture
def service(index: str, local_settings: Settings, hold: held.Hold) -> Iterator[LocalService]:
    with closing(LocalService(index, with_serving(local_settings, max_in_flight=2), opening=held.OPENING)) as service:
        yield service


def with_serving(settings: Settings, **changed: Any) -> Settings:
    return settings.model_copy(update={"serving": settings.serving.model_copy(update=changed)})


async def events(service: LocalService, asked: Asked) -> list[ServiceEvent]:
    return [event async for event in service.answer(asked)]


def one(question: str = ASKED, **options: Any) -> Asked:
    return Asked((Question("1", question),), **options)


async def status_of(service: LocalService, question: str = ASKED) -> str:
    (answer,) = [event for event in await events(service, one(question)) if isinstance(event, AnswerEvent)]
    return answer.prediction.status


@pytest.mark.slow
async def test_a_new_version_is_used_once_unchanged_and_requests_finish_on_theirs(
    service: LocalService, index: str, sample_folder: Path, local_settings: Settings, hold: held.Hold
) -> None:
    await service.ready()
    before = await service.status()
    assert not await service.look()
    hold.begin()
    old = asyncio.create_task(events(service, one(RISKS, stream=True)))
    await asyncio.to_thread(hold.wait_until_held)
    added = [str(path) for path in sorted((sample_folder / "filings").glob("*-2022-q2-10q*"))]
    assert (await asyncio.to_thread(index_in_process, added, index, local_settings)).failed == 0
    assert not await service.look()  # seen for the first time
    assert await service.look()
    after = await service.status()
    assert after.filings > before.filings
    assert after.index_version != before.index_version
    hold.end()
    versions = {event.index_version for event in await old if isinstance(event, (StartedEvent, AnswerEvent))}
    assert versions == {before.index_version}
    (answer,) = [event for event in await events(service, one()) if isinstance(event, AnswerEvent)]
    assert answer.index_version == after.index_version


async def test_the_service_keeps_its_version_if_the_index_disappears(service: LocalService, index: str) -> None:
    await service.start()
    shutil.rmtree(index)
    before = service.index
    with pytest.raises(IndexMissingError):
        await service.look()
    assert service.index is before
    await service.stop()


async def test_abandoned_work_ends_at_the_next_stage(service: LocalService, hold: held.Hold) -> None:
    seen: list[str] = []
    hold.begin()

    async def read() -> None:
        async for event in service.answer(one(RISKS, stream=True)):
            seen.append(event.name)  # noqa: PERF401 - what came before the end counts too

    reading = asyncio.create_task(read())
    await asyncio.to_thread(hold.wait_until_held)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    hold.end()
    assert "started" in seen
    assert "answer" not in seen
    assert await status_of(service) == "answered"


async def test_past_capacity_questions_are_refused_at_once_and_none_is_lost(
    service: LocalService, hold: held.Hold
) -> None:
    hold.begin()
    asked = [asyncio.create_task(events(service, one(f"Which risks of CLDVC? {n}"))) for n in range(2)]
    await asyncio.to_thread(hold.wait_until_held)
    with pytest.raises(ApiError, match="max_in_flight") as caught:
        await events(service, one())
    assert (caught.value.status, caught.value.code) == (429, "overloaded")
    with pytest.raises(ApiError):
        await service.retrieve(AskedRetrieval("q"))
    hold.end()
    assert all(found[0].name == "answer" for found in await asyncio.gather(*asked))
    assert await status_of(service) == "answered"


async def test_a_failing_retrieval_is_an_error_of_the_service(service: LocalService) -> None:
    with pytest.raises(ApiError) as caught:
        await service.retrieve(AskedRetrieval("a" * 9_000))
    assert caught.value.status == 422


async def test_a_question_that_crashes_its_engine_fails_alone(index: str, local_settings: Settings) -> None:
    settings = with_serving(local_settings, timeout_s=3.0, grace_s=0.5)
    with closing(LocalService(index, settings, opening=wild.OPENING)) as service:
        with pytest.raises(ApiError) as slow:
            await status_of(service, "regex")
        assert (slow.value.status, slow.value.code) == (504, "timeout")
        with pytest.raises(ApiError) as starting:
            while await service.status():
                await asyncio.sleep(0.01)
        assert (starting.value.status, starting.value.code) == (503, "not_ready")
        both = Asked((Question("1", "die"), Question("2", "hello")))
        predictions = {e.qid: e.prediction for e in await events(service, both) if isinstance(e, AnswerEvent)}
        assert predictions["2"].status == "answered"
        assert (predictions["1"].error or "").startswith("EngineLostError: ")

"""The client with the real application."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

import finray.client
from finray.api.app import create_app
from finray.api.keys import KeyRing, add_key
from finray.api.service import LocalService
from finray.client import AnswerEvent, AsyncClient, Client, Ready, ServiceError, ServiceEvent, StageEvent
from finray.client.wire import EventReader, pause
from finray.core.errors import UsageError
from finray.core.filing_filter import FilingFilter
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings

ASKED = "What was the total revenue of CLDVC in FY2022?"


@pytest.fixture(scope="module")
def application(sample_index: str, local_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    keys = str(tmp_path_factory.mktemp("keys") / "keys.json")
    text = add_key(keys, "client")
    with closing(LocalService(sample_index, local_settings)) as service:
        service.wait_until_ready()
        yield create_app(service, local_settings.serving, KeyRing(keys, 1.0)), text


@pytest.fixture(scope="module")
def client(application: Any, listen: Callable[[Any], str]) -> Iterator[Client]:
    app, key = application
    with Client(listen(app), key, max_retries=0) as client:
        yield client


def test_an_answer_is_a_prediction(client: Client, ask: Callable[[str], Prediction]) -> None:
    found, expected = client.answer(ASKED), ask(ASKED)
    assert (found.answer, found.value, found.status) == (expected.answer, expected.value, "answered")
    assert found.evidence == expected.evidence
    assert found.trace == ()
    assert client.answer(ASKED, trace=True).trace


@pytest.mark.slow
def test_several_answers_keep_ids_and_order(client: Client) -> None:
    asked = [Question("b", ASKED), Question("a", "Why?")]
    assert [found.qid for found in client.answer_all(asked)] == ["b", "a"]


def test_a_stream_ends_with_the_prediction(client: Client) -> None:
    events = list(client.stream(ASKED))
    assert [event.name for event in events][-2:] == ["answer", "done"]
    answer = events[-2]
    assert isinstance(answer, AnswerEvent)
    assert answer.prediction.status == "answered"
    stages = [event for event in events if isinstance(event, StageEvent) and event.state == "finished"]
    assert [stage.stage for stage in stages[:3]] == ["transform", "documents", "passages"]
    assert stages[0].query is not None
    assert stages[1].documents


def test_filings_pages_and_retrieval_are_typed(client: Client) -> None:
    filings = list(client.filings(FilingFilter(forms=("10-K",)), page_size=2))
    assert len(filings) > 2
    assert {filing.form for filing in filings} == {"10-K"}
    filing = client.filing(filings[0].filing_id)
    assert filing == filings[0]
    page = client.page(filing.filing_id, 0)
    assert page.text
    assert page.page == 0
    found = client.retrieve(ASKED, narrowed=FilingFilter(forms=("10-K",)), k_documents=1, k_passages=2)
    assert len(found.documents) == 1
    assert len(found.passages) == 2
    assert client.ready().filings >= len(filings)


def test_a_refusal_of_the_service_is_an_error_with_its_code(client: Client) -> None:
    with pytest.raises(ServiceError) as caught:
        client.page("0" * 20, 0)
    assert (caught.value.status, caught.value.code, caught.value.param) == (404, "not_found", "filing_id")
    assert caught.value.request_id
    with pytest.raises(ServiceError, match="question"):
        client.answer("")
    with pytest.raises(ServiceError) as in_stream:
        list(client.stream(" "))
    assert in_stream.value.status == 422
    with pytest.raises(UsageError):
        client.page("../../etc/passwd", 0)


async def test_the_asynchronous_client_does_the_same(application: Any) -> None:
    app, key = application
    async with AsyncClient("http://test", key, transport=httpx.ASGITransport(app)) as client:
        prediction = await client.answer(ASKED)
        assert prediction.status == "answered"
        assert [event.name async for event in client.stream(ASKED)][-1] == "done"
        filings = [filing async for filing in client.filings(page_size=3)]
        assert len(filings) == (await client.ready()).filings
        assert (await client.page(filings[0].filing_id, 0)).n_pages > 0
        assert (await client.retrieve(ASKED)).passages
        assert (await client.filing(filings[0].filing_id)).company
        with pytest.raises(ServiceError):
            await client.page_image(filings[0].filing_id, 0)


def test_temporary_errors_are_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", waits.append)
    statuses = iter([429, 503, 200])

    ready = {"index_version": "1", "filings": 2, "settings_hash": "0", "status": "ready"}

    def reply(request: httpx.Request) -> httpx.Response:
        status = next(statuses)
        return httpx.Response(status, json=ready, headers={"Retry-After": "7"} if status == 429 else {})

    client = Client("http://test", transport=httpx.MockTransport(reply))
    assert client.ready() == Ready("1", 2, "0")
    assert waits == [7.0, 1.0]
    assert pause(ServiceError(429, "x", "x", retry_after=1e9)) == 30.0


def test_permanent_errors_are_not_retried() -> None:
    asked = []

    def reply(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(401, json={"error": {"message": "no", "type": "t", "param": None, "code": "c"}})

    with pytest.raises(ServiceError, match="401 c: no"):
        Client("http://test", transport=httpx.MockTransport(reply)).answer("q")
    assert len(asked) == 1


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": [{"qid": 1}]}'])
def test_a_reply_of_another_kind_of_server_is_an_error(body: bytes) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=body))
    with pytest.raises(ServiceError, match="finray service"):
        Client("http://test", transport=transport).answer("q")


def test_an_unreachable_service_is_one_clear_error() -> None:
    with pytest.raises(ServiceError, match=r"no reply from http://127\.0\.0\.1:9"):
        Client("http://127.0.0.1:9", max_retries=0).ready()


def test_a_key_with_characters_invalid_in_headers_is_refused() -> None:
    with pytest.raises(UsageError, match="header"):
        Client("http://test", "ke\ny")


def test_public_names() -> None:
    assert finray.client.__all__ == sorted(finray.client.__all__)


def test_a_client_loads_neither_lance_nor_arrow() -> None:
    code = "import sys, finray.client; print({'lance', 'lancedb', 'pyarrow', 'numpy', 'fastapi'} & {*sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout == "set()\n"


def test_unknown_events_of_a_newer_service_are_skipped() -> None:
    def read(*lines: str) -> list[ServiceEvent]:
        reader = EventReader()
        return [event for line in lines for event in reader.read(line)]

    done = ("event: done", 'data: {"index_version": "1", "seconds": 0.5, "more": 1}', "")
    assert [event.name for event in read("event: mood", "data: {}", "", *done)] == ["done"]
    with pytest.raises(ServiceError, match="seconds"):
        read("event: done", 'data: {"index_version": "1"}', "")

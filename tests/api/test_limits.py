from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from finray.api.app import create_app
from finray.api.errors import ApiError
from finray.api.keys import KeyRing
from finray.api.limits import Capacity, KeyLimits
from finray.api.service import Asked
from finray.api.telemetry import Telemetry
from finray.core.predictions import Prediction
from finray.core.replies import AnswerEvent, ServiceEvent, StartedEvent
from finray.core.settings import ServingSettings


def test_past_capacity_a_question_is_refused_with_an_estimated_retry_time() -> None:
    capacity = Capacity(64, workers=2, spread=lambda low, high: (low + high) / 2)
    with capacity.admit(65):  # alone, a large request is taken
        pass
    for _ in range(500):
        capacity.took(0.25)
    refused = pytest.raises(ApiError, match="64 questions are running")
    with capacity.admit(63), capacity.admit(1), refused as caught, capacity.admit(1):
        pass
    assert caught.value.status == 429
    assert caught.value.retry_after == pytest.approx(64 * 0.25 / 2)


def test_retry_times_are_spread() -> None:
    capacity, waits = Capacity(64, workers=1), set()
    for _ in range(100):
        with capacity.admit(64), pytest.raises(ApiError) as caught, capacity.admit(1):
            pass
        waits.add(caught.value.headers["Retry-After"])
    assert {"5", "6", "7", "8"} <= waits  # 6.4 s and a quarter more or less


def test_a_rate_refills_and_applies_to_one_key() -> None:
    now = [0.0]
    limits = KeyLimits(ServingSettings(questions_per_minute=60, max_questions=2), clock=lambda: now[0])
    for _ in range(10):  # the burst of ten seconds
        limits.ask("a", 1)
    with pytest.raises(ApiError) as caught:
        limits.ask("a", 2)
    assert caught.value.status == 429
    assert caught.value.retry_after == pytest.approx(2.0)
    assert int(caught.value.headers["Retry-After"]) >= 2
    limits.ask("b", 2)
    now[0] = 2.0
    limits.ask("a", 2)


def test_the_largest_request_fits_into_a_small_rate() -> None:
    limits = KeyLimits(ServingSettings(questions_per_minute=1, max_questions=16), clock=lambda: 0.0)
    limits.ask("a", 16)


def test_concurrency_is_limited_for_each_key() -> None:
    limits = KeyLimits(ServingSettings(max_concurrent=1))
    end = limits.begin("a")
    with pytest.raises(ApiError, match="under way"):
        limits.begin("a")
    limits.begin("b")
    end()
    limits.begin("a")


def test_a_refused_request_has_a_retry_time_and_is_counted(make_client: Callable[..., TestClient]) -> None:
    reasons: list[str] = []

    class Counting(Telemetry):
        def refused(self, reason: str) -> None:
            reasons.append(reason)

    client = make_client(reads_per_minute=6.0, max_questions=1, app_options={"telemetry": Counting()})
    statuses = [client.get("/v1/filings").status_code for _ in range(3)]
    assert statuses == [200, 429, 429]
    reply = client.get("/v1/filings")
    assert 1 <= int(reply.headers["retry-after"]) <= 11
    assert reply.json()["error"]["type"] == "rate_limit_error"
    assert reasons == ["rate_limit"] * 3


class Slow:
    """Answers when released; records what was begun and cancelled."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = self.given_up = 0

    async def read(self, key: str, work: object, *args: object) -> Any:
        self.begun += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        self.begun += 1
        try:
            yield StartedEvent("1", asked.questions)
            await self.go.wait()
            for question in asked.questions:
                yield AnswerEvent(question.qid, "1", Prediction(question.qid, question.question, "", "unanswerable"))
        except (asyncio.CancelledError, GeneratorExit):
            self.given_up += 1
            raise


def slow_client(keys_file: object, key: str, service: Slow, **changed: Any) -> httpx.AsyncClient:
    app = create_app(service, ServingSettings(**changed), KeyRing(str(keys_file), 1.0))  # type: ignore[arg-type]
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.AsyncClient(base_url="http://test", transport=httpx.ASGITransport(app), headers=headers)


async def test_concurrent_requests_of_one_key_are_limited_until_one_ends(keys_file: object, key: str) -> None:
    service = Slow()
    async with slow_client(keys_file, key, service, max_concurrent=2) as client:
        first = [asyncio.create_task(client.post("/v1/answer", json={"question": "q"})) for _ in range(2)]
        while service.begun < 2:
            await asyncio.sleep(0.01)
        refused = await client.post("/v1/answer", json={"question": "q"})
        assert refused.status_code == 429
        assert refused.json()["error"]["code"] == "concurrency_limit"
        service.go.set()
        assert [(await reply).status_code for reply in first] == [200, 200]
        assert (await client.post("/v1/answer", json={"question": "q"})).status_code == 200


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_request_past_the_time_limit_is_cancelled_with_an_error(
    keys_file: object, key: str, accept: str
) -> None:
    service = Slow()
    async with slow_client(keys_file, key, service, timeout_s=0.1) as client:
        reply = await client.post("/v1/answer", json={"question": "q"}, headers={"Accept": accept})
    assert '"timeout"' in reply.text.replace("'", '"')
    assert reply.status_code == (504 if accept == "application/json" else 200)
    assert service.given_up == 1


async def test_a_request_that_the_server_cancels_is_not_a_failure(
    keys_file: object, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    service = Slow()
    with caplog.at_level("INFO", logger="finray.api.access"):
        async with slow_client(keys_file, key, service) as client:
            asking = asyncio.create_task(client.post("/v1/answer", json={"question": "q"}))
            while not service.begun:
                await asyncio.sleep(0.01)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
    assert service.given_up == 1
    (line,) = [record.fields for record in caplog.records if record.name == "finray.api.access"]  # type: ignore[attr-defined]
    assert line["status"] == 499


@pytest.mark.parametrize(
    ("method", "path", "accept"),
    [
        ("POST", "/v1/answer", "application/json"),
        ("POST", "/v1/answer", "text/event-stream"),
        ("GET", "/v1/filings/abc/pages/0", "application/json"),
    ],
)
async def test_a_disconnecting_client_ends_the_work(
    keys_file: object, key: str, method: str, path: str, accept: str, listen: Callable[[Any], str]
) -> None:
    service = Slow()
    app = create_app(service, ServingSettings(max_concurrent=1), KeyRing(str(keys_file), 1.0))  # type: ignore[arg-type]
    url = listen(app)
    headers = {"Authorization": f"Bearer {key}", "Accept": accept}
    body = {"question": "q"} if method == "POST" else None
    for _ in range(2):  # the second is only let in when the first has really ended
        async with httpx.AsyncClient(base_url=url, headers=headers) as client:
            begun = service.begun
            asking = asyncio.create_task(client.request(method, path, json=body))
            while service.begun == begun:
                await asyncio.sleep(0.01)
            asking.cancel()
        for _ in range(500):
            if service.given_up == service.begun:
                break
            await asyncio.sleep(0.01)
        assert service.given_up == service.begun
        await asyncio.sleep(0.05)

"""Errors reach clients without addresses, locations and paths, which only the log has."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from finray.api.disclosure import for_client, without_places
from finray.api.service import LocalService
from finray.core import errors
from finray.core.errors import FinrayError, ModelReplyError, ModelUnavailableError
from finray.core.predictions import Prediction
from finray.core.settings import Settings, load_settings

MakeClient = Callable[..., TestClient]
SECRETS = ("http://10.1.2.3:8100/v1", "s3://private-bucket/index", "/srv/models/secret-7b", "Qwen-secret")
ASKED = "What was the total revenue of CLDVC in FY2022?"
EVENTS = {"Accept": "text/event-stream"}
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, FinrayError)]


@settings(deadline=None)
@given(st.sampled_from(KINDS), st.lists(st.sampled_from(SECRETS), min_size=1), st.text(max_size=20))
def test_no_kind_of_error_discloses_its_message(kind: type[FinrayError], secrets: list[str], more: str) -> None:
    if kind is errors.QuestionError:
        return
    message = more + " ".join(secrets)
    prediction = Prediction("1", "q", "", "error", error=f"{kind.__name__}: {message}")
    shown = without_places(prediction, "req-1").error or ""
    refused = str(for_client(FinrayError(message), "req-1"))
    assert not any(secret in shown + refused for secret in SECRETS)
    assert shown.startswith(f"{kind.__name__}: ")
    assert "req-1" in shown


@pytest.mark.parametrize("error", [None, "QuestionError: the question is blank"])
def test_errors_that_the_client_can_fix_keep_their_message(error: str | None) -> None:
    prediction = Prediction("1", "q", "", "error", error=error)
    assert without_places(prediction, "req-1") == prediction


def llm_settings(url: str) -> Settings:
    changed = {"encoder.model": "hash", "llm.base_url": url, "llm.model": "/srv/models/secret-7b", "llm.max_retries": 0}
    roles = {"loop.transform": "hirec", "loop.curator": "hirec", "loop.answerer": "hirec"}
    return load_settings(overrides={**changed, **roles}, environment={})


def replies(client: TestClient) -> dict[str, str]:
    """Request to reply: everything that a client sees of a failing service."""
    body = {"question": ASKED, "trace": True}
    headers = {"X-Request-Id": "req-77"}
    return {
        "answer": client.post("/v1/answer", json=body, headers=headers).text,
        "events": client.post("/v1/answer", json=body, headers=headers | EVENTS).text,
        "retrieve": client.post("/v1/retrieve", json={"question": ASKED}, headers=headers).text,
    }


def test_a_failing_model_is_reported_without_its_address(
    make_client: MakeClient, sample_index: str, caplog: pytest.LogCaptureFixture
) -> None:
    errors = [ModelUnavailableError(f"{' '.join(SECRETS)} gave no answer"), ModelReplyError("reply is empty")]
    current: list[FinrayError] = []

    async def fail(*_: object) -> None:
        raise current[-1]

    with closing(LocalService(sample_index, llm_settings(SECRETS[0]), outsiders={"chat": fail})) as service:
        for error in errors:
            current.append(error)
            caplog.clear()
            seen = replies(make_client(service))
            assert '"status":"error"' in seen["answer"]
            assert "req-77" in seen["answer"]
            for name, text in seen.items():
                assert not any(secret in text for secret in (*SECRETS, sample_index)), name
            assert "req-77" in caplog.text
            assert str(error) in caplog.text


@pytest.mark.parametrize("answers", [["<html>", "[1]"], []], ids=["invalid", "unreachable"])
def test_an_invalid_model_reply_is_reported_without_the_address(
    make_client: MakeClient, sample_index: str, listen: Callable[[Any], str], answers: list[str]
) -> None:
    current: list[str] = []

    def odd(_: object) -> PlainTextResponse:
        return PlainTextResponse(current[-1], headers={"connection": "close"})

    server = Starlette(routes=[Route("/{path:path}", odd, methods=["POST"])])
    url = listen(server) if answers else "http://127.0.0.1:9/v1"
    with closing(LocalService(sample_index, llm_settings(url))) as service:
        for answer in answers or ["nobody replies"]:
            current.append(answer)
            seen = replies(make_client(service))
            assert '"status":"error"' in seen["answer"]
            for name, text in seen.items():
                assert url not in text, name
                assert url.removeprefix("http://") not in text, name
                assert "secret-7b" not in text, name


def test_a_broken_index_is_reported_without_its_location(
    make_client: MakeClient, sample_index: str, serving_settings: Settings, tmp_path: Path
) -> None:
    index = tmp_path / "private-index"
    shutil.copytree(sample_index, index)
    with closing(LocalService(str(index), serving_settings)) as service:
        service.wait_until_ready()
        filing_id = next(iter(service.index.filings))
        for table in ("pages", "chunks", "facts"):
            shutil.rmtree(index / f"{table}.lance" / "data")
        client = make_client(service)
        texts = [*replies(client).values(), client.get("/readyz").text, client.get("/v1/filings").text]
        texts += [client.get(f"/v1/filings/{filing_id}{more}").text for more in ("", "/pages/0", "/pages/0/image")]
    assert '"status":"error"' in texts[0]
    for text in texts:
        assert "private-index" not in text
        assert str(tmp_path) not in text
        assert ".lance" not in text

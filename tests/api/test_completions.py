"""The shared language model, called by OpenAI's own client over a real connection. The model is a fake; tests/llm has a
real one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI
from starlette.testclient import TestClient

from finray.api.app import create_app
from finray.api.errors import ApiError
from finray.api.keys import KeyRing
from finray.api.service import LocalService
from finray.core.settings import Settings

Listen = Callable[[Any], str]
HI: Any = [{"role": "user", "content": "hi"}]
CHUNK = (
    b'data: {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "acme/small", "choices": '
    b'[{"index": 0, "delta": {"content": "%s"}, "finish_reason": null}]}\n\n'
)


class Fake:
    """Repeats the last message; "endless" never ends, "refuse" is refused."""

    model = "acme/small"

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.ended: list[str] = []

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        text = self._heard(body)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": self.model, "choices": [choice],
                "usage": usage}  # fmt: skip

    async def stream(self, body: dict[str, Any]) -> AsyncGenerator[bytes, None]:
        text = self._heard(body)
        try:
            for letter in text:
                yield CHUNK % letter.encode()
            while text == "endless":
                await asyncio.sleep(0.05)
                yield CHUNK % b"."
            yield b"data: [DONE]\n\n"
        finally:
            self.ended.append(text)

    def _heard(self, body: dict[str, Any]) -> str:
        self.bodies.append(body)
        text = str(body["messages"][-1]["content"])
        if text == "refuse":
            raise ApiError(400, "rejected_by_model", "longer than 4096 tokens")
        return text


@pytest.fixture(scope="module")
def fake() -> Fake:
    return Fake()


@pytest.fixture(scope="module")
def address(
    fake: Fake, service: LocalService, serving_settings: Settings, keys_file: Path, key: str, listen: Listen
) -> str:
    app = create_app(service, serving_settings.serving, KeyRing(str(keys_file), 0.0), completions=fake)
    return f"{listen(app)}/llm/v1"


@pytest.fixture(scope="module")
def client(address: str, key: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=address, api_key=key, max_retries=0) as client:
        yield client


def test_a_completion_is_that_of_the_model(client: OpenAI, fake: Fake) -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    reply = client.chat.completions.create(
        model="acme/small", messages=HI, temperature=0, max_tokens=9, response_format=form, user="me"
    )
    assert reply.choices[0].message.content == "hi"
    assert reply.usage is not None
    assert reply.usage.total_tokens == 5
    assert fake.bodies[-1] == {
        **{"model": "acme/small", "messages": HI, "stream": False, "temperature": 0.0, "max_tokens": 9},
        "response_format": form,
    }


def test_a_stream_has_the_content_of_a_single_reply(client: OpenAI) -> None:
    stream = client.chat.completions.create(model="acme/small", messages=HI, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "hi"


def test_a_client_that_leaves_ends_the_work(client: OpenAI, fake: Fake) -> None:
    with client.chat.completions.create(
        model="acme/small", messages=[{"role": "user", "content": "endless"}], stream=True
    ) as stream:
        next(iter(stream))
    deadline = time.monotonic() + 30
    while "endless" not in fake.ended and time.monotonic() < deadline:
        time.sleep(0.05)
    assert fake.ended.count("endless") == 1


def test_the_model_is_listed_by_its_name(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["acme/small"]
    assert client.models.retrieve("acme/small").id == "acme/small"
    with pytest.raises(openai.NotFoundError, match=r"acme/small"):
        client.models.retrieve("other")


@pytest.mark.parametrize("stream", [False, True])
def test_the_reason_of_a_rejection_reaches_the_client(client: OpenAI, stream: bool) -> None:
    with pytest.raises(openai.BadRequestError, match="longer than 4096") as raised:
        client.chat.completions.create(
            model="acme/small", messages=[{"role": "user", "content": "refuse"}], stream=stream
        )
    assert raised.value.code == "rejected_by_model"


def test_another_model_or_no_key_is_refused(client: OpenAI, address: str) -> None:
    with pytest.raises(openai.NotFoundError, match=r"'gpt'.*'acme/small'"):
        client.chat.completions.create(model="gpt", messages=HI)
    with OpenAI(base_url=address, api_key="wrong", max_retries=0) as stranger:
        with pytest.raises(openai.AuthenticationError):
            stranger.chat.completions.create(model="acme/small", messages=HI)
        with pytest.raises(openai.AuthenticationError):
            stranger.models.list()


def _schema(**fields: Any) -> dict[str, Any]:
    properties = {"type": "object", "properties": {"x": fields}}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": properties}}}


def _nested(levels: int) -> dict[str, Any]:
    return {"items": _nested(levels - 1)} if levels else {}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"chat_template": "{{ 7 * 7 }}"}, "chat_template"),
        ({"structured_outputs": {"regex": "(a{1,999}){1,999}"}}, "structured_outputs"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://10.0.0.1"}}]}]},
         "messages"),
        ({"n": 1_000_000}, "n"),
        ({"max_tokens": 0}, "max_tokens"),
        (_schema(pattern="(a+)+$"), "'pattern'"),
        (_schema(maxLength=10**9), "maxLength"),
        (_schema(**_nested(50)), "too large"),
        (_schema(enum=list(range(5_000))), "too large"),
    ],
)  # fmt: skip
def test_what_could_harm_the_engine_is_refused(client: OpenAI, fake: Fake, given: Any, problem: str) -> None:
    before = len(fake.bodies)
    with pytest.raises(openai.UnprocessableEntityError, match=problem):
        client.chat.completions.create(**{"model": "acme/small", "messages": HI}, extra_body=given)
    assert len(fake.bodies) == before


def test_it_counts_toward_the_limits_of_the_key(make_client: Any) -> None:
    client: TestClient = make_client(app_options={"completions": Fake()}, questions_per_minute=1.0, max_questions=1)
    body = {"model": "acme/small", "messages": HI}
    statuses = [client.post("/llm/v1/chat/completions", json=body).status_code for _ in range(3)]
    assert statuses[0] == 200
    assert 429 in statuses


def test_a_service_without_a_language_model_is_a_404(make_client: Any) -> None:
    reply = make_client().post("/llm/v1/chat/completions", json={"model": "x", "messages": HI})
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "no_language_model")

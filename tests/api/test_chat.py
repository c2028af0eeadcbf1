"""The OpenAI-compatible routes, called by OpenAI's own client over a real connection."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import OpenAI
from starlette.testclient import TestClient

from finray.api.app import create_app
from finray.api.keys import KeyRing
from finray.api.service import LocalService
from finray.client import AnswerEvent, Client
from finray.core.predictions import Prediction
from finray.core.settings import Settings

Listen = Callable[[Any], str]
TITLE = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Output:
JSON format: { "title": "your concise title here" }
### Examples:
- { "title": "📉 Stock Market Trends" },
### Chat History:
<chat_history>
USER: What was the revenue of the company with the very long name in fiscal 2023?
ASSISTANT: $5 million
</chat_history>"""
TAGS = TITLE.replace('{ "title": "your concise title here" }', '{ "tags": ["tag1", "tag2", "tag3"] }')


@pytest.fixture(scope="module")
def address(service: LocalService, serving_settings: Settings, keys_file: Path, key: str, listen: Listen) -> str:
    return listen(create_app(service, serving_settings.serving, KeyRing(str(keys_file), 0.0)))


@pytest.fixture(scope="module")
def client(address: str, key: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def asked(service: LocalService) -> str:
    """A question of one company and fiscal year."""
    annual = [filing for filing in service.index.filings.values() if filing.form == "10-K" and filing.fiscal_year]
    newest = max(annual, key=lambda filing: (filing.fiscal_year or 0, filing.filing_id))
    return f"What was {newest.company}'s net income in fiscal {newest.fiscal_year}?"


def test_an_answer_comes_with_citations(client: OpenAI, asked: str, ask: Callable[[str], Prediction]) -> None:
    reply = client.chat.completions.create(model="finray", messages=[{"role": "user", "content": asked}])
    expected = ask(asked)
    (choice,) = reply.choices
    content = choice.message.content or ""
    assert choice.finish_reason == "stop"
    assert content.startswith(expected.answer)
    assert f"({expected.evidence[0].doc_name}), p. {expected.evidence[0].page + 1}" in content
    assert reply.usage is not None
    assert reply.usage.total_tokens == 0
    citations = choice.message.annotations or []
    assert citations
    for number, citation in enumerate(citations, start=1):
        mark = citation.url_citation
        assert content[mark.start_index : mark.end_index] == f"[\\[{number}\\]]({mark.url})"
        assert mark.url.startswith("http")
        assert expected.evidence[0].doc_name in citations[0].url_citation.title


def test_a_stream_has_the_content_of_a_single_reply(client: OpenAI, asked: str) -> None:
    messages: Any = [{"role": "user", "content": asked}]
    whole = client.chat.completions.create(model="finray", messages=messages).choices[0].message
    stream = client.chat.completions.create(
        model="finray", messages=messages, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == whole.content
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert not chunks[-1].choices
    notes = chunks[-2].choices[0].delta.model_extra or {}
    assert [note["url_citation"]["title"] for note in notes["annotations"]] == [
        note.url_citation.title for note in whole.annotations or []
    ]


def test_the_stream_ends_with_done(address: str, key: str, asked: str) -> None:
    body = {"model": "finray", "stream": True, "messages": [{"role": "user", "content": asked}]}
    reply = httpx.post(f"{address}/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {key}"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.text.endswith("data: [DONE]\n\n")
    assert '"usage"' not in reply.text


def test_a_follow_up_uses_the_conversation_and_shows_how_it_was_read(client: OpenAI, asked: str) -> None:
    (year,) = set(re.findall(r"20\d\d", asked))
    other = str(int(year) - 1)
    messages: Any = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": asked},
        {"role": "assistant", "content": "whatever was said"},
        {"role": "user", "content": [{"type": "text", "text": f"and in {other}?"}]},
    ]
    reply = client.chat.completions.create(model="finray", messages=messages)
    plain = client.chat.completions.create(
        model="finray", messages=[{"role": "user", "content": asked.replace(year, other)}]
    )
    verdict = (reply.model_extra or {})["finray"]
    assert other in verdict["resolved"]
    assert year not in verdict["resolved"]
    assert verdict["resolved"] in (reply.choices[0].message.content or "")
    assert verdict["value"] == (plain.model_extra or {})["finray"]["value"] is not None


def test_an_unclear_follow_up_is_answered_with_what_it_leaves_open(client: OpenAI, asked: str) -> None:
    messages: Any = [{"role": "user", "content": asked}, {"role": "user", "content": "and last year?"}]
    reply = client.chat.completions.create(model="finray", messages=messages)
    assert "leaves open which fiscal period" in (reply.choices[0].message.content or "")
    assert (reply.model_extra or {})["finray"]["status"] == "unanswerable"


def test_models_are_listed(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["finray"]
    assert client.models.retrieve("finray").owned_by == "finray"
    with pytest.raises(openai.NotFoundError) as caught:
        client.models.retrieve("gpt-9")
    assert caught.value.code == "model_not_found"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("prompt", "name"), [(TITLE, "title"), (TAGS, "tags")])
def test_title_and_tag_prompts_of_front_ends_get_json(client: OpenAI, prompt: str, name: str, stream: bool) -> None:
    reply: Any = client.chat.completions.create(
        model="finray", messages=[{"role": "user", "content": prompt}], stream=stream, max_tokens=50
    )
    text = "".join(c.choices[0].delta.content or "" for c in reply) if stream else reply.choices[0].message.content
    found = json.loads(text)
    assert list(found) == [name]
    if name == "title":
        assert found["title"].startswith("What was the revenue of the company")
        assert len(found["title"]) <= 60


def test_parameters_of_language_models_are_ignored(client: OpenAI, asked: str) -> None:
    tool: Any = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    reply = client.chat.completions.create(
        model="finray",
        messages=[{"role": "user", "content": asked, "name": "ana"}],
        temperature=0.3,
        tools=[tool],
        response_format={"type": "json_object"},
        user="ana",
        extra_body={"metadata": {"chat_id": "1"}, "chat_id": "x", "unheard_of": [1]},
    )
    assert reply.choices[0].message.content


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        ({"model": "gpt-9", "messages": [{"role": "user", "content": "x"}]}, 404, "model_not_found", "model"),
        ({"model": "finray", "messages": []}, 422, "invalid_request", "messages"),
        ({"model": "finray"}, 422, "invalid_request", "messages"),
        ({"model": "finray", "messages": [{"role": "system", "content": "x"}]}, 422, "no_user_message", "messages"),
        ({"model": "finray", "messages": [{"role": "user", "content": ""}]}, 422, "invalid_question", None),
        ({"model": "finray", "messages": [{"role": "user", "content": "x" * 2001}]}, 422, "question_too_long", None),
        ({"model": "finray", "n": 2, "messages": [{"role": "user", "content": "x"}]}, 422, "invalid_request", "n"),
        (
            {"model": "finray", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
            422,
            "unsupported_content",
            "messages.0.content",
        ),
    ],
)
def test_errors_have_openais_shape(
    make_client: Callable[..., TestClient], body: dict[str, Any], status: int, code: str, param: str | None
) -> None:
    client = make_client()
    for stream in (False, True):
        reply = client.post("/v1/chat/completions", json=body | {"stream": stream})
        error = reply.json()["error"]
        assert (reply.status_code, error["code"]) == (status, code)
        assert set(error) == {"message", "type", "param", "code"}
        assert param is None or error["param"] == param


def test_a_wrong_key_is_an_authentication_error(address: str) -> None:
    with OpenAI(base_url=f"{address}/v1", api_key="frk_wrong", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError):
            client.models.list()
        with pytest.raises(openai.AuthenticationError):
            client.chat.completions.create(model="finray", messages=[{"role": "user", "content": "x"}])


def test_the_answer_route_and_the_client_take_a_context(address: str, key: str, asked: str) -> None:
    (year,) = set(re.findall(r"20\d\d", asked))
    follow_up = f"and in {int(year) - 1}?"
    with Client(address, key) as client:
        found = client.answer(follow_up, context=[asked])
        streamed = [event for event in client.stream(follow_up, context=[asked]) if isinstance(event, AnswerEvent)]
    assert found.resolved == asked.replace(year, str(int(year) - 1)).replace("fiscal ", "")
    assert found.value is not None
    assert streamed[0].prediction.resolved == found.resolved


def test_a_context_belongs_to_one_question(make_client: Callable[..., TestClient]) -> None:
    client = make_client()
    for body in ({"questions": [{"question": "q"}], "context": ["c"]}, {"question": "q", "context": ["c"] * 21}):
        assert client.post("/v1/answer", json=body).status_code == 422
    reply = client.post("/v1/answer", json={"question": "q", "context": ["c", ""]})
    assert reply.json()["error"]["param"] == "context.1"

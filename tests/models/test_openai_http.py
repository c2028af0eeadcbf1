"""The HTTP chat model against a real server on this machine."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from finray.core.errors import ModelReplyError, ModelUnavailableError
from finray.core.predictions import TokenUsage
from finray.core.settings import LlmSettings
from finray.models.chat import ChatReply, Message
from finray.models.openai_http import OpenAIChatModel

KEY = "sk-very-secret"
SCHEMA = {"type": "object"}


@dataclass
class Server:
    """Answers in turn from ``replies`` (status, body), the last one for ever; keeps what it was sent."""

    url: str = ""
    replies: list[tuple[int, bytes]] = field(default_factory=list)
    retry_after: str | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    delay_s: float = 0.0
    at_once: int = 0
    most_at_once: int = 0


def completion(content: object, **more: object) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}], **more}).encode()


GOOD = (200, completion("hello", usage={"prompt_tokens": 7, "completion_tokens": 2}))


@pytest.fixture
def server() -> Iterator[Server]:
    state, lock = Server(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with lock:
                state.at_once += 1
                state.most_at_once = max(state.most_at_once, state.at_once)
                state.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                sent = {name.lower(): value for name, value in self.headers.items()}
                state.headers.append(sent | {"path": self.path})
                status, body = state.replies.pop(0) if len(state.replies) > 1 else state.replies[0]
            time.sleep(state.delay_s)
            with lock:
                state.at_once -= 1
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if status != 200 and state.retry_after is not None:
                self.send_header("Retry-After", state.retry_after)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:  # a client that gave up
            pass

    http = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_port}/v1"
    yield state
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture
def chat(server: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ChatReply]:
    monkeypatch.setenv("FINRAY_TEST_KEY", KEY)

    def ask(schema: dict[str, Any] | None = None, **settings: Any) -> ChatReply:
        chosen = LlmSettings.model_validate(
            {"base_url": server.url, "model": "m", "api_key_env": "FINRAY_TEST_KEY", "retry_wait_s": 0.0} | settings
        )

        async def once() -> ChatReply:
            model = OpenAIChatModel(chosen)
            try:
                return await model.chat([Message("system", "be brief"), Message("user", "hi")], schema=schema)
            finally:
                await model.close()

        return asyncio.run(once())

    return ask


def test_a_reply_with_its_tokens(server: Server, chat: Callable[..., ChatReply]) -> None:
    server.replies = [GOOD]
    assert chat(temperature=0.5, max_tokens=9) == ChatReply("hello", TokenUsage(7, 2))
    assert server.headers[0]["path"] == "/v1/chat/completions"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert server.bodies == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
            "temperature": 0.5,
            "max_tokens": 9,
        }
    ]


def test_a_seed_is_sent_if_there_is_one(server: Server, chat: Callable[..., ChatReply]) -> None:
    server.replies = [GOOD]
    chat(seed=3)
    assert server.bodies[0]["seed"] == 3


def test_without_a_key_none_is_sent(
    server: Server, chat: Callable[..., ChatReply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FINRAY_TEST_KEY")
    server.replies = [GOOD]
    chat()
    assert "authorization" not in server.headers[0]


def test_a_server_is_sent_the_key_that_the_settings_name_and_nothing_else_of_the_environment(
    server: Server, chat: Callable[..., ChatReply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-another")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway-Token: another")
    server.replies = [GOOD]
    chat()
    assert "another" not in repr(server.headers)
    usual = {"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host"}
    assert server.headers[0].keys() == usual | {"user-agent", "path"}


def test_a_schema_is_asked_for_and_parsed(server: Server, chat: Callable[..., ChatReply]) -> None:
    server.replies = [(200, completion('{"a": 1}'))]
    assert chat(SCHEMA).parsed == {"a": 1}
    assert server.bodies[0]["response_format"]["json_schema"]["schema"] == SCHEMA


def test_cached_tokens_and_a_cut_are_told(server: Server, chat: Callable[..., ChatReply]) -> None:
    usage = {"prompt_tokens": 70, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 64}}
    choice = {"finish_reason": "length", "message": {"content": "hel"}}
    server.replies = [(200, json.dumps({"choices": [choice], "usage": usage}).encode())]
    assert chat() == ChatReply("hel", TokenUsage(70, 2, 0.0, 64), cut=True)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens_details": None},
        {"prompt_tokens_details": {"cached_tokens": "1"}},
        None,
        [],
        {"prompt_tokens": None},
        {"prompt_tokens": "7"},
        "many",
    ],
)
def test_missing_counts_cost_no_answer(server: Server, chat: Callable[..., ChatReply], usage: object) -> None:
    server.replies = [(200, completion("hello", usage=usage))]
    assert chat() == ChatReply("hello", TokenUsage(0, 0))


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_an_overloaded_server_is_asked_again(server: Server, chat: Callable[..., ChatReply], status: int) -> None:
    server.replies = [(status, b"busy"), (status, b"busy"), GOOD]
    assert chat().text == "hello"
    assert len(server.bodies) == 3


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was slept, instead of sleeping."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("stamina._core._smart_sleep", sleep)
    return slept


def in_seconds(seconds: float) -> str:
    return format_datetime(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [
        ("7", 7, 7),
        (60.0, 40, 60),
        ("86400", 120, 120),
        (1e6, 120, 120),
        ("soon", 0, 0),
        (None, 0, 0),
    ],
)
def test_a_server_is_given_the_time_it_asks_for_within_bounds(
    server: Server,
    chat: Callable[..., ChatReply],
    waits: list[float],
    asked: str | float | None,
    least: float,
    most: float,
) -> None:
    """A float stands for a date that many seconds from now."""
    header = in_seconds(asked) if isinstance(asked, float) else asked
    server.replies, server.retry_after = [(503, b"busy"), GOOD], header
    assert chat().text == "hello"
    assert len(waits) == 1
    assert least <= waits[0] <= most


def test_a_wait_that_was_asked_for_has_jitter_on_top_and_is_not_kept(
    server: Server, chat: Callable[..., ChatReply], waits: list[float]
) -> None:
    server.replies, server.retry_after = [(429, b"busy"), GOOD], "3"
    chat(retry_wait_s=1.0)
    assert 3.5 <= waits[0] <= 4.5


def test_a_server_that_stays_broken_is_given_up_with_advice(server: Server, chat: Callable[..., ChatReply]) -> None:
    server.replies = [(500, b"out of memory")]
    with pytest.raises(ModelUnavailableError) as caught:
        chat(max_retries=2)
    assert len(server.bodies) == 3
    message = str(caught.value)
    for part in (server.url, "'m'", "3 tries", "HTTP 500", "out of memory", "llm.base_url"):
        assert part in message


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404])
def test_a_refusal_is_not_repeated_and_never_shows_the_key(
    server: Server, chat: Callable[..., ChatReply], status: int
) -> None:
    server.replies = [(status, f"wrong api key {KEY}".encode())]
    with pytest.raises(ModelUnavailableError) as caught:
        chat()
    assert len(server.bodies) == 1
    assert f"HTTP {status}" in str(caught.value)
    assert "FINRAY_TEST_KEY" in str(caught.value)
    assert "wrong api key [key]" in str(caught.value)
    assert KEY not in repr(caught.value)


@pytest.mark.parametrize("status", [401, 500])
def test_a_long_answer_is_cut(server: Server, chat: Callable[..., ChatReply], status: int) -> None:
    server.replies = [(status, b"<html>\x1b[31m\n" * 10_000)]
    with pytest.raises(ModelUnavailableError) as caught:
        chat(max_retries=0)
    assert len(str(caught.value)) < 800
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"", "not JSON"),
        (b"[1]", "not an object"),
        (b"{}", "choices"),
        (b'{"choices": []}', "choices"),
        (b'{"choices": null}', "choices"),
        (b'{"choices": {"a": 1}}', "choices"),
        (completion(None), "not text"),
        (completion(["a"]), "not text"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_an_answer_of_another_shape_is_refused(
    server: Server, chat: Callable[..., ChatReply], body: bytes, reason: str
) -> None:
    server.replies = [(200, body)]
    with pytest.raises(ModelReplyError, match=reason):
        chat()
    assert len(server.bodies) == 1


@pytest.mark.parametrize("content", ["Sure!", "[1]", "null", '{"a": ', "[" * 100_000, "{" * 100_000 + "}", ""])
def test_prose_where_json_was_asked_for_is_text_alone(
    server: Server, chat: Callable[..., ChatReply], content: str
) -> None:
    server.replies = [(200, completion(content))]
    reply = chat(SCHEMA | {"required": ["a"]})
    assert (reply.text, reply.parsed) == (content, None)


REFUSING = (400, b'{"error": {"message": "response_format json_schema is not supported by this model"}}')
ASKED = {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "integer"}}}, "required": ["ids"]}


def test_a_server_without_schemas_is_told_the_form_and_asked_only_once(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies = [REFUSING, (200, completion("## ids\n1, 3"))]

    async def twice() -> list[ChatReply]:
        model = OpenAIChatModel(LlmSettings(base_url=server.url))
        replies = [await model.chat([Message("system", "be brief")], schema=ASKED) for _ in range(2)]
        await model.close()
        return replies

    assert [reply.parsed for reply in asyncio.run(twice())] == [{"ids": [1, 3]}] * 2
    assert ["response_format" in body for body in server.bodies] == [True, False, False]
    instructions = server.bodies[1]["messages"][0]["content"]
    assert instructions.startswith("be brief")
    assert "## ids" in instructions


def test_a_schema_that_is_demanded_is_not_given_up(server: Server, chat: Callable[..., ChatReply]) -> None:
    server.replies = [REFUSING]
    with pytest.raises(ModelUnavailableError, match="not supported"):
        chat(ASKED, structured_output="json_schema")


def test_a_schema_may_be_left_out_from_the_start(server: Server, chat: Callable[..., ChatReply]) -> None:
    server.replies = [(200, completion("## ids: none"))]
    assert chat(ASKED, structured_output="none").parsed == {"ids": []}
    assert "response_format" not in server.bodies[0]


def test_tokens_have_their_price(server: Server, chat: Callable[..., ChatReply]) -> None:
    server.replies = [GOOD]
    assert chat(prompt_price=2.0, completion_price=10.0).usage == TokenUsage(7, 2, 34e-6)


def test_a_slow_server_times_out(server: Server, chat: Callable[..., ChatReply]) -> None:
    server.replies, server.delay_s = [GOOD], 0.6
    with pytest.raises(ModelUnavailableError, match="2 tries; last: ReadTimeout"):
        chat(timeout_s=0.1, max_retries=1)


def test_no_server_at_all(chat: Callable[..., ChatReply]) -> None:
    with pytest.raises(ModelUnavailableError, match="ConnectError"):
        chat(base_url="http://127.0.0.1:9/v1", max_retries=1)


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://127.0.0.1", "http://[::1", "", "nonsense"])
def test_what_is_no_address_is_said_at_once(chat: Callable[..., ChatReply], url: str) -> None:
    with pytest.raises(ModelUnavailableError, match=r"llm\.base_url"):
        chat(base_url=url, retry_wait_s=100.0)


def test_a_key_that_no_header_can_carry_is_named_not_shown(
    chat: Callable[..., ChatReply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINRAY_TEST_KEY", "sk-sécret")
    with pytest.raises(ModelUnavailableError, match="FINRAY_TEST_KEY") as caught:
        chat()
    assert "sécret" not in str(caught.value)


def test_a_key_may_end_in_a_line_feed(
    server: Server, chat: Callable[..., ChatReply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINRAY_TEST_KEY", f"{KEY}\n")
    server.replies = [GOOD]
    chat()
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


async def test_no_more_requests_at_once_than_allowed(server: Server) -> None:
    server.replies, server.delay_s = [GOOD], 0.02
    model = OpenAIChatModel(LlmSettings(base_url=server.url, max_concurrency=3))
    await asyncio.gather(*(model.chat([Message("user", "hi")]) for _ in range(12)))
    await model.close()
    assert len(server.bodies) == 12
    assert server.most_at_once <= 3

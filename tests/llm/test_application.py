"""The HTTP service with a real language model in a replica of its own, beside the ingress that answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI

from finray.api.keys import new_key
from finray.client import Client
from tools.ports import free_port

pytestmark = [pytest.mark.llm, pytest.mark.ray, pytest.mark.timeout(600), pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).parents[2]
KEY, TEXT = new_key("test")
CAPITAL: Any = [{"role": "user", "content": "What is the capital of France? Answer in one sentence."}]
FORM: Any = {
    "type": "json_schema",
    "json_schema": {
        "name": "city",
        "schema": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 20}, "certain": {"type": "boolean"}},
            "required": ["city", "certain"],
            "additionalProperties": False,
        },
    },
}


@pytest.fixture(scope="module")
def url(small_model: str, engine_settings: dict[str, Any], sample_index: str) -> Iterator[str]:
    from ray import serve

    from finray.cluster.runtime import ray_cluster
    from serve.app import build

    port = free_port()
    settings: dict[str, Any] = {f"llm.vllm.{name}": value for name, value in engine_settings.items()}
    settings |= {
        "serving.timeout_s": 400.0,
        "llm.vllm.max_num_seqs": 2,
        "llm.model": small_model,
        "llm.max_tokens": 96,
        "encoder.model": "hash",
        "loop.i_max": 1,
    }
    settings |= {"retrieval.k_passages": 2, "loop.max_kept": 2, "evidence.max_tokens": 500}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with ray_cluster(num_cpus=2):
            serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": port})
            arguments = {
                "index": sample_index,
                "preset": "vllm",
                "set": settings,
                "run_keys": [KEY],
                "ingress": {"num_cpus": 0.5},
                "llm": {"options": {"ray_actor_options": {"num_cpus": 1}}},
            }
            try:
                serve.run(build(arguments), name="finray")
                yield f"http://127.0.0.1:{port}"
            finally:
                serve.shutdown()  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def shared(url: str) -> Iterator[OpenAI]:
    """OpenAI's client for the model that finray itself asks."""
    with OpenAI(base_url=f"{url}/llm/v1", api_key=TEXT, max_retries=0, timeout=120) as client:
        yield client


def test_questions_are_answered_by_the_model_of_the_application(url: str) -> None:
    with Client(url, TEXT) as client:
        prediction = client.answer("What was the total revenue of CLDVC in FY2022?")
        assert sum(usage.prompt_tokens for usage in prediction.usage.values()) > 500
        # A model this weak answers nothing right: what counts is that a question ends in what was done.
        assert prediction.status in ("answered", "unanswerable") or "ModelReplyError" in str(prediction.error)
        names = [event.name for event in client.stream("Which risks does CLDVC name?")]
        assert (names[0], names[-1]) == ("started", "done")
        assert "stage" in names


def test_any_client_may_ask_the_same_model(shared: OpenAI) -> None:
    (model,) = [card.id for card in shared.models.list()]
    assert model == "smollm2"  # the folder's name, not its path
    reply = shared.chat.completions.create(model=model, messages=CAPITAL, temperature=0, max_tokens=24)
    assert "Paris" in str(reply.choices[0].message.content)
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 10
    stream = shared.chat.completions.create(
        model=model, messages=CAPITAL, temperature=0, max_tokens=24, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert said == reply.choices[0].message.content
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == reply.usage.completion_tokens
    assert len(chunks) > 3


def test_a_schema_is_enforced_for_them_too(shared: OpenAI) -> None:
    reply = shared.chat.completions.create(
        model="smollm2", messages=CAPITAL, temperature=0, max_tokens=48, response_format=FORM
    )
    found = json.loads(reply.choices[0].message.content or "")
    assert found.keys() == {"city", "certain"}
    assert isinstance(found["certain"], bool)


def test_what_is_wrong_is_said_and_the_engine_goes_on(shared: OpenAI, url: str) -> None:
    long: Any = [{"role": "user", "content": "word " * 6000}]
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError, match="4096"):
            shared.chat.completions.create(model="smollm2", messages=long, stream=stream)
    with pytest.raises(openai.NotFoundError, match="smollm2"):
        shared.chat.completions.create(model="gpt", messages=CAPITAL)
    with (
        OpenAI(base_url=f"{url}/llm/v1", api_key="wrong", max_retries=0) as stranger,
        pytest.raises(openai.AuthenticationError),
    ):
        stranger.chat.completions.create(model="smollm2", messages=CAPITAL)
    assert shared.chat.completions.create(model="smollm2", messages=CAPITAL, max_tokens=2).choices


def test_clients_that_leave_free_the_engine(shared: OpenAI) -> None:
    """The engine works on two requests at a time (llm.vllm.max_num_seqs): two stories of minutes would block it."""
    story: Any = [{"role": "user", "content": "Write a long story about a dragon."}]
    body: Any = {"model": "smollm2", "messages": story, "max_tokens": 3900}
    for _ in range(2):
        with shared.chat.completions.create(**body, stream=True) as stream:
            next(iter(stream))
    with pytest.raises(openai.APITimeoutError):
        shared.with_options(timeout=2).chat.completions.create(**body)
    reply = shared.with_options(timeout=60).chat.completions.create(model="smollm2", messages=CAPITAL, max_tokens=8)
    assert reply.choices

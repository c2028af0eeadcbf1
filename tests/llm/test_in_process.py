"""vLLM's engine in this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import LlmSettings
from finray.models.chat import ChatModel, Message
from finray.models.load_chat import load_chat
from finray.models.replay_cache import ReplayingChatModel
from finray.models.vllm_engine import shared_vllm
from tests.llm import demands

pytestmark = [pytest.mark.llm, pytest.mark.timeout(600), pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def model(llm: LlmSettings) -> Iterator[ChatModel]:
    made = shared_vllm(llm).engine
    yield made
    children = psutil.Process().children(recursive=True)
    made.close()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert [process for process in alive if "Engine" in process.name() or "Worker" in process.name()] == []
    with pytest.raises(ModelUnavailableError, match="ended"):
        asyncio.run(made.chat(demands.CAPITAL))
    made.close()


@pytest.mark.parametrize(
    "demand",
    [
        demands.sensible_text,
        demands.structured_output,
        demands.cut_replies,
        demands.sixteen_at_once,
        demands.cached_instructions,
        demands.too_long_a_prompt,
    ],
)
async def test_it_does_what_a_model_must(model: ChatModel, demand: Any) -> None:
    await demand(model)


def test_it_serves_one_event_loop_after_another(model: ChatModel) -> None:
    texts = [asyncio.run(model.chat(demands.CAPITAL)).text for _ in range(2)]
    assert texts[0] == texts[1]


def test_whoever_asks_in_this_process_asks_the_one_engine(model: ChatModel, llm: LlmSettings) -> None:
    other: Any = load_chat(llm.model_copy(update={"temperature": 1.0, "max_tokens": 9}))
    assert other.engine is model
    assert asyncio.run(other.chat([Message("user", "Write a story.")])).usage.completion_tokens == 9


async def test_without_enforcement_the_form_is_asked_for(model: Any, llm: LlmSettings) -> None:
    asker = llm.model_copy(update={"structured_output": "none"})
    reply = await model.chat_as(asker, [Message("user", "Write a poem about the sea.")], demands.SCHEMA)
    assert not reply.text.startswith("{")


async def test_a_reply_that_takes_too_long_is_aborted(model: Any, llm: LlmSettings) -> None:
    hurried = llm.model_copy(update={"timeout_s": 0.2, "max_tokens": 2000})
    with pytest.raises(ModelUnavailableError, match=r"no reply in 0\.2 s"):
        await model.chat_as(hurried, [Message("user", "Write a long story about a dragon.")], None)
    await nothing_runs(model)


async def test_a_caller_that_is_cancelled_aborts_its_request(model: Any, llm: LlmSettings) -> None:
    patient = llm.model_copy(update={"max_tokens": 2000})
    task = asyncio.create_task(model.chat_as(patient, [Message("user", "Write a long story.")], None))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await nothing_runs(model)


async def nothing_runs(model: Any) -> None:
    deadline = time.monotonic() + 10
    while model.running() and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    assert model.running() == 0


async def test_a_run_that_resumes_asks_the_engine_nothing(model: Any, llm: LlmSettings, tmp_path: Path) -> None:
    class Counting:
        calls = 0

        async def chat(self, *arguments: Any, **named: Any) -> Any:
            self.calls += 1
            return await model.chat(*arguments, **named)

    counting = Counting()
    settings = llm.model_copy(update={"replay_cache": str(tmp_path)})
    first = await ReplayingChatModel(counting, settings).chat(demands.CAPITAL)
    again = await ReplayingChatModel(counting, settings).chat(demands.CAPITAL)
    assert counting.calls == 1
    assert (again.text, again.usage.prompt_tokens) == (first.text, first.usage.prompt_tokens)
    assert (first.usage.cost > 0, again.usage.cost) == (True, 0)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"model": "/nowhere/model"}, "no such folder"),
        ({"model": "./nowhere"}, "no such folder"),
        ({"vllm": {"quantization": "awq", "max_model_len": 4096}}, "does not start"),
    ],
)
def test_what_is_wrong_with_a_model_is_said(llm: LlmSettings, changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(ModelUnavailableError, match=reason) as raised:
        load_chat(LlmSettings.model_validate(llm.model_dump() | changed))
    assert "llm." in str(raised.value)

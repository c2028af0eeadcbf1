"""The ChatModel over a handle of Ray Serve: errors of Ray and what a caller sees of them. Starts no Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError

from finray.cluster.serve_chat import ServeChatModel
from finray.core.errors import FinrayError, ModelReplyError, ModelUnavailableError, RequestRejectedError
from finray.core.predictions import TokenUsage
from finray.core.settings import LlmSettings
from finray.models.chat import ChatReply, Message

HI = [Message("user", "hi")]
USAGE = {"prompt_tokens": 7, "completion_tokens": 2}
PAYLOAD = {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}], "usage": USAGE}
GOOD = ChatReply("hello", TokenUsage(7, 2))
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


class Handle:
    """A handle of a deployment that returns or raises ``outcomes`` in turn, then repeats the last one."""

    def __init__(self, *outcomes: object) -> None:
        self.outcomes = list(outcomes)
        self.asked: list[tuple[Any, ...]] = []
        self.cancelled = 0
        self.complete = self

    def remote(self, *arguments: Any) -> Handle:
        self.asked.append(arguments)
        return self

    def cancel(self) -> None:
        self.cancelled += 1

    def __await__(self) -> Any:
        return self._outcome().__await__()

    async def _outcome(self) -> object:
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if outcome == "never":
            await asyncio.Event().wait()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def raised_there(error: Exception) -> RayTaskError:
    return RayTaskError("complete", "Traceback ...", error).as_instanceof_cause()  # type: ignore[no-any-return, no-untyped-call]


def asking(handle: Handle, **settings: Any) -> Callable[[], Any]:
    model = ServeChatModel(LlmSettings(retry_wait_s=0.0, max_retries=2, **settings), handle)
    return lambda: model.chat(HI, schema=SCHEMA)


async def test_the_replica_gets_the_sampling_settings() -> None:
    handle = Handle(PAYLOAD)
    assert await asking(handle, model="/models/Small", temperature=0.7, max_tokens=5, timeout_s=9)() == GOOD
    body, timeout_s = handle.asked[0]
    assert body["messages"] == [{"role": "user", "content": "hi"}]
    assert (body["model"], body["temperature"], body["max_tokens"], timeout_s) == ("Small", 0.7, 5, 9)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


async def test_without_structured_output_the_prompt_describes_the_form() -> None:
    handle = Handle(PAYLOAD)
    await asking(handle, structured_output="none")()
    body, _ = handle.asked[0]
    assert "response_format" not in body
    assert "## ok" in body["messages"][0]["content"]


async def test_a_rejected_request_names_the_settings() -> None:
    handle = Handle(raised_there(RequestRejectedError(400, "longer than 4096 tokens")))
    with pytest.raises(ModelUnavailableError, match=r"rejects a request: longer than 4096.*max_model_len"):
        await asking(handle)()
    assert len(handle.asked) == 1


@pytest.mark.parametrize("error", [ModelUnavailableError("no"), ModelReplyError("odd")])
async def test_errors_keep_their_type_and_are_not_repeated(error: FinrayError) -> None:
    handle = Handle(raised_there(error))
    with pytest.raises(type(error), match=str(error)) as raised:
        await asking(handle)()
    assert type(raised.value) is type(error)
    assert len(handle.asked) == 1


async def test_a_bug_in_the_replica_is_named() -> None:
    with pytest.raises(ModelUnavailableError, match="KeyError"):
        await asking(Handle(raised_there(KeyError("x"))))()


@pytest.mark.parametrize("problem", [RayActorError(), BackPressureError(num_queued_requests=9, max_queued_requests=8)])
async def test_a_lost_replica_or_a_full_queue_is_retried(problem: Exception) -> None:
    handle = Handle(problem, problem, PAYLOAD)
    assert await asking(handle)() == GOOD
    assert len(handle.asked) == 3


async def test_retries_of_a_lost_replica_are_limited() -> None:
    handle = Handle(RayActorError())
    with pytest.raises(ModelUnavailableError, match="'llm' gave no answer after 3 tries; last: RayActorError"):
        await asking(handle)()


async def test_a_caller_that_is_cancelled_cancels_the_request() -> None:
    handle = Handle("never")
    task = asyncio.create_task(asking(handle)())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert handle.cancelled == 1

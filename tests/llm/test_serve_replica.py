"""vLLM in a Ray Serve replica, asked through its handle."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import LlmSettings
from finray.models.chat import ChatModel, Message
from finray.models.load_chat import load_chat
from tests.llm import demands

pytestmark = [pytest.mark.llm, pytest.mark.ray, pytest.mark.timeout(600), pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).parents[2]
AT_ONCE = 4
"""Requests that the engine works on; more wait in the replica's queue."""
STORY = [Message("user", "Write a long story about a dragon.")]


@pytest.fixture(scope="module")
def application(llm: LlmSettings) -> Iterator[LlmSettings]:
    """The settings of those who ask a running application."""
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray import serve

    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 * 1024**2,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )
    from serve.llm import app

    arguments = {f"llm.vllm.{name}": value for name, value in llm.vllm.model_dump().items()}
    arguments["llm.vllm.max_num_seqs"] = AT_ONCE
    try:
        serve.start(proxy_location="Disabled")
        serve.run(app(arguments | {"llm.model": llm.model, "cpus": 1}), name="llm", route_prefix=None)
        yield llm.model_copy(update={"backend": "serve", "max_retries": 1, "retry_wait_s": 0.1})
    finally:
        serve.shutdown()  # type: ignore[no-untyped-call]
        ray.shutdown()


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
async def test_it_does_what_a_model_must(application: LlmSettings, demand: Any) -> None:
    model: ChatModel = load_chat(application)
    await demand(model)


async def test_a_reply_that_takes_too_long_is_aborted(application: LlmSettings) -> None:
    hurried = load_chat(application.model_copy(update={"timeout_s": 1.0, "max_tokens": 3900}))
    late = await asyncio.gather(*(hurried.chat(STORY) for _ in range(AT_ONCE)), return_exceptions=True)
    for error in late:
        assert "no reply in 1 s" in str(error)
        assert type(error) is ModelUnavailableError, "as it was raised, not as Ray wraps it"
    await the_engine_is_free(application)


async def test_callers_that_are_cancelled_abort_their_requests(application: LlmSettings) -> None:
    model = load_chat(application.model_copy(update={"max_tokens": 3900}))
    tasks = [asyncio.create_task(model.chat(STORY)) for _ in range(AT_ONCE)]
    await asyncio.sleep(3.0)
    for task in tasks:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
    await the_engine_is_free(application)


async def the_engine_is_free(application: LlmSettings) -> None:
    """The stories, which take the engine minutes, no longer occupy all its places."""
    await demands.sensible_text(load_chat(application.model_copy(update={"timeout_s": 30.0})))


async def test_another_model_than_it_runs_is_refused(application: LlmSettings) -> None:
    with pytest.raises(ModelUnavailableError, match=r"runs .*, not llm.model = 'other'"):
        await load_chat(application.model_copy(update={"model": "other"})).chat(demands.CAPITAL)


def test_an_application_that_is_not_there_is_said(application: LlmSettings) -> None:
    with pytest.raises(ModelUnavailableError, match="serve run --name nothing"):
        load_chat(application.model_copy(update={"serve_app": "nothing"}))


async def test_a_replica_that_dies_is_replaced(application: LlmSettings) -> None:
    import psutil

    model = load_chat(application.model_copy(update={"max_retries": 60, "retry_wait_s": 5.0}))
    replicas = [p for p in psutil.process_iter(["cmdline"]) if "ServeReplica:llm" in " ".join(p.info["cmdline"] or ())]
    assert len(replicas) == 1
    replicas[0].kill()
    await demands.sensible_text(model)

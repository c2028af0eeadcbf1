"""vLLM's own OpenAI-compatible server, asked over HTTP."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import LlmSettings
from finray.models.chat import Message
from finray.models.openai_http import OpenAIChatModel
from finray.models.vllm_arguments import engine_arguments
from tests.llm import demands
from tools.ports import free_port

pytestmark = [pytest.mark.llm, pytest.mark.timeout(600), pytest.mark.filterwarnings("default")]

KEY = "of-the-test"
QUEUE = 8
START_S = 500.0


@pytest.fixture(scope="module")
def server(small_model: str, llm: LlmSettings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server's address, under ``/v1``. It refuses what does not fit in its short queue."""
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "log.txt"
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", small_model, "--served-model-name", "smol", "--host", "127.0.0.1", "--port", str(port)),
        *("--max-model-len", "4096", "--enforce-eager", "--kv-cache-memory-bytes", str(1024**3), "--api-key", KEY),
        *("--structured-outputs-config", '{"backend": "xgrammar", "disable_any_whitespace": true}'),
        *("--enable-prompt-tokens-details", "--max-num-queued-reqs", str(QUEUE)),
        *("--dtype", engine_arguments(llm, on_cpu=True)["dtype"]),
    ]
    with log.open("wb") as written:
        process = subprocess.Popen(
            command,
            stdout=written,
            stderr=subprocess.STDOUT,
            env=os.environ | {"VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"},
            start_new_session=True,
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}/health", log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(address).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    pytest.fail(f"the server did not start: {log.read_text(errors='replace')[-3000:]}")


@pytest.fixture
def settings(server: str, llm: LlmSettings, monkeypatch: pytest.MonkeyPatch) -> LlmSettings:
    monkeypatch.setenv("FINRAY_TEST_KEY", KEY)
    changed = {"backend": "openai", "base_url": server, "model": "smol", "api_key_env": "FINRAY_TEST_KEY"}
    return llm.model_copy(update=changed | {"max_retries": 10, "retry_wait_s": 0.2})


@asynccontextmanager
async def client(settings: LlmSettings) -> AsyncIterator[OpenAIChatModel]:
    """Closed at the end: connections left open warn when Python exits, and pytest then fails."""
    model = OpenAIChatModel(settings)
    try:
        yield model
    finally:
        await model.close()


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
async def test_it_does_what_a_model_must(settings: LlmSettings, demand: Any) -> None:
    async with client(settings) as model:
        await demand(model)


async def test_a_full_queue_is_waited_for(settings: LlmSettings) -> None:
    """More than the queue takes: some are refused at first (HTTP 503), and all come in the end."""
    story = [Message("user", "Write a long story about a dragon.")]
    async with client(settings.model_copy(update={"max_retries": 0})) as eager:
        outcomes = await asyncio.gather(*(eager.chat(story) for _ in range(3 * QUEUE)), return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, ModelUnavailableError)]
    assert refused
    assert all("HTTP 503" in str(error) for error in refused)
    async with client(settings) as patient:
        replies = await asyncio.gather(*(patient.chat(story) for _ in range(3 * QUEUE)))
    assert all(reply.text for reply in replies)


async def test_a_slow_reply_times_out_and_the_server_goes_on(settings: LlmSettings) -> None:
    changed = {"timeout_s": 0.3, "max_tokens": 2000, "max_retries": 0}
    async with client(settings.model_copy(update=changed)) as hurried:
        with pytest.raises(ModelUnavailableError, match="ReadTimeout"):
            await hurried.chat([Message("user", "Write a long story about a dragon.")])
    async with client(settings) as patient:
        await demands.sensible_text(patient)


@pytest.mark.parametrize(("changed", "status"), [({"model": "other"}, "404"), ({"api_key_env": "UNSET"}, "401")])
async def test_a_wrong_name_or_key_is_said(settings: LlmSettings, changed: dict[str, str], status: str) -> None:
    async with client(settings.model_copy(update=changed)) as model:
        with pytest.raises(ModelUnavailableError, match=f"HTTP {status}") as raised:
            await model.chat(demands.CAPITAL)
    assert KEY not in str(raised.value)

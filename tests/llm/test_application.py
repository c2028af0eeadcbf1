"""The HTTP service with a real language model in a replica of its own, beside the ingress that answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from finray.client import Client

pytestmark = [pytest.mark.llm, pytest.mark.ray, pytest.mark.timeout(600), pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def url(small_model: str, engine_settings: dict[str, Any], sample_index: str) -> Iterator[str]:
    from ray import serve

    from finray.cluster.runtime import ray_cluster
    from serve.app import build

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings: dict[str, Any] = {f"llm.vllm.{name}": value for name, value in engine_settings.items()}
    settings |= {"llm.model": small_model, "llm.max_tokens": 96, "encoder.model": "hash", "loop.i_max": 1}
    settings |= {"retrieval.k_passages": 2, "loop.max_kept": 2, "evidence.max_tokens": 500}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with ray_cluster(num_cpus=2):
            serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": port})
            arguments = {
                "index": sample_index,
                "preset": "vllm",
                "set": settings,
                "auth": False,
                "ingress": {"num_cpus": 0.5},
                "llm": {"options": {"ray_actor_options": {"num_cpus": 1}}},
            }
            try:
                serve.run(build(arguments), name="finray")
                yield f"http://127.0.0.1:{port}"
            finally:
                serve.shutdown()  # type: ignore[no-untyped-call]


def test_questions_are_answered_by_the_model_of_the_application(url: str) -> None:
    with Client(url) as client:
        prediction = client.answer("What was the total revenue of CLDVC in FY2022?")
        assert sum(usage.prompt_tokens for usage in prediction.usage.values()) > 500
        # A model this weak answers nothing right: what counts is that a question ends in what was done.
        assert prediction.status in ("answered", "unanswerable") or "ModelReplyError" in str(prediction.error)
        names = [event.name for event in client.stream("Which risks does CLDVC name?")]
        assert (names[0], names[-1]) == ("started", "done")
        assert "stage" in names

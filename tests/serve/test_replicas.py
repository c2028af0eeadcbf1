"""The application in replicas: models behind handles give the same results, replicas scale, and may die."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import numpy as np
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client
from openai import NotFoundError, OpenAI
from ray import serve

from finray.api.keys import new_key
from finray.client import AsyncClient, Client, ServiceError
from finray.cluster.replica_calls import asker
from finray.cluster.runtime import ray_cluster
from finray.core.questions import Question
from finray.core.settings import EncoderSettings, RerankerSettings, Settings, load_settings
from finray.engine import open_engine
from finray.models.hash_encoder import HashEncoder
from finray.models.reranker import OverlapReranker
from serve.app import build
from serve.config import BatchedReplicas, LanguageModel, Replicas, ServeArguments
from serve.models import ENCODER, RERANKER
from tests.weightless import WEIGHTLESS
from tools.faults.processes import descendants
from tools.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(600)]

Until = Callable[..., None]
SMALL = {"num_cpus": 0.1}
KEY, TEXT = new_key("test")
CHANGED = {
    **WEIGHTLESS,
    "retrieval.reranked_pages": 4,
    "passage_reranker.model": "overlap",
    "serving.questions_per_minute": 1e6,
    "serving.max_concurrent": 512,
    "serving.max_in_flight": 512,
    "serving.mcp": True,
}


@pytest.fixture(scope="module")
def started() -> Iterator[int]:
    """Ray and Serve, on a free port."""
    port = free_port()
    with pytest.MonkeyPatch.context() as patch, ray_cluster_soon_told(patch):
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        yield port
        serve.shutdown()  # type: ignore[no-untyped-call]


@pytest.fixture(scope="module")
def run(started: int, sample_index: str) -> Iterator[Callable[..., str]]:
    """Runs the application with the given replicas, replaces the previous one, and returns its URL."""

    def start(**replicas: Any) -> str:
        arguments = ServeArguments(**{"index": sample_index, "set": CHANGED, "run_keys": (KEY,), **replicas})
        serve.run(build(arguments), name="finray")
        return f"http://127.0.0.1:{started}"

    yield start


@contextmanager
def ray_cluster_soon_told(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """A local cluster whose replicas report their load twice a second instead of every ten seconds."""
    for who in ("REPLICA", "HANDLE"):
        patch.setenv(f"RAY_SERVE_{who}_AUTOSCALING_METRIC_PUSH_INTERVAL_S", "0.5")
    with ray_cluster(num_cpus=4):
        yield


def running(deployment: str) -> int:
    states = serve.status().applications["finray"].deployments[deployment].replica_states
    return sum(count for state, count in states.items() if str(state).endswith("RUNNING"))


def test_encoders_behind_a_handle_batch_and_give_the_same_vectors(started: int) -> None:
    settings = EncoderSettings(model="hash")
    handle = serve.run(ENCODER.options(ray_actor_options=SMALL).bind(settings, 16, 0.02), name="enc", route_prefix=None)
    encode = asker(handle, "encode")
    texts = [f"text {n} of revenue" for n in range(40)]

    async def ask() -> tuple[list[Any], Any]:
        return await asyncio.gather(*(encode([text]) for text in texts)), await encode(texts)

    single, together = asyncio.run(ask())
    expected = HashEncoder().encode_passages(texts)
    assert np.array_equal(np.concatenate(single), expected)
    assert np.array_equal(together, expected)
    serve.delete("enc")


def test_rerankers_behind_a_handle_give_the_same_scores(started: int) -> None:
    app = RERANKER.options(ray_actor_options=SMALL).bind(RerankerSettings(model="overlap"), 16, 0.01)
    handle = serve.run(app, name="rank", route_prefix=None)
    texts = ["net revenue", "cash", ""]
    score = asker(handle, "score")
    assert np.array_equal(asyncio.run(score("revenue", texts)), OverlapReranker().scores("revenue", texts))
    serve.delete("rank")


def test_separate_replicas_give_the_same_answers_as_one_process(
    run: Callable[..., str], sample_index: str, sample_questions: list[dict[str, Any]]
) -> None:
    replicas = BatchedReplicas(**SMALL)
    url = run(ingress=Replicas(**SMALL), answering=Replicas(**SMALL), encoder=replicas, reranker=replicas)
    settings: Settings = load_settings(overrides=CHANGED, environment={})
    engine = open_engine(sample_index, settings)
    asked = [line["question"] for line in sample_questions[:8]]
    with Client(url, TEXT) as client:
        for question in asked:
            expected = asyncio.run(engine.answer(Question("1", question)))
            found = client.answer(question)
            assert (found.answer, found.status) == (expected.answer, expected.status), question
            assert [p.page for p in found.passages] == [p.page for p in expected.passages]
        names = [event.name for event in client.stream(asked[0])]
        assert names[0] == "started"
        assert names[-1] == "done"
        filing = next(client.filings())
        assert client.page(filing.filing_id, 0).text
        assert client.retrieve(asked[0], k_passages=2).passages
        with pytest.raises(ServiceError) as caught:
            client.page("0" * 20, 0)
        assert (caught.value.status, caught.value.code) == (404, "not_found")
        assert asyncio.run(_by_mcp(url, asked[0])) == client.answer(asked[0]).value


async def _by_mcp(url: str, question: str) -> float:
    """The value that the tool ``ask`` gives; its citation leads to a page."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TEXT}"}) as http,
        McpClient(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        answer = (await client.call_tool("ask", {"question": question})).structured_content
        assert answer is not None
        cited = answer["evidence"][0]["citation"]
        page = await client.call_tool("read_page", {"filing_id": cited["filing_id"], "page": cited["page"]})
        assert not page.is_error
        wrong = await client.call_tool("read_page", {"filing_id": cited["filing_id"], "page": 999})
        assert wrong.is_error
    value: float = answer["value"]
    return value


def test_a_language_model_of_the_application_answers(run: Callable[..., str]) -> None:
    llm = LanguageModel(build="tests.serve.fake_llm:bind", options={"ray_actor_options": SMALL})
    url = run(ingress=Replicas(**SMALL), llm=llm, set={**CHANGED, "loop.answerer": "hirec", "llm.model": "fake"})
    with Client(url, TEXT) as client:
        prediction = client.answer("What was the total revenue of CLDVC in FY2022?")
    assert (prediction.status, prediction.value) == ("answered", 42.0)
    assert prediction.usage["answer"].completion_tokens == 1


@pytest.mark.parametrize("answering", [None, Replicas(**SMALL)])
def test_other_programs_share_the_language_model(run: Callable[..., str], answering: Replicas | None) -> None:
    llm = LanguageModel(build="tests.serve.fake_llm:bind", options={"ray_actor_options": SMALL})
    changed = {**CHANGED, "loop.answerer": "hirec", "llm.model": "fake"}
    url = run(ingress=Replicas(**SMALL), answering=answering, llm=llm, set=changed)
    messages: Any = [{"role": "user", "content": "hi"}]
    with OpenAI(base_url=f"{url}/llm/v1", api_key=TEXT, max_retries=0) as client:
        reply = client.chat.completions.create(model="fake", messages=messages)
        assert "return 42" in str(reply.choices[0].message.content)
        stream = client.chat.completions.create(model="fake", messages=messages, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "42"
    url = run(ingress=Replicas(**SMALL), llm=llm, set={**changed, "serving.share_llm": False})
    with OpenAI(base_url=f"{url}/llm/v1", api_key=TEXT, max_retries=0) as client, pytest.raises(NotFoundError):
        client.chat.completions.create(model="fake", messages=messages)


def test_replicas_scale_with_the_load(run: Callable[..., str], until: Until) -> None:
    scaled = Replicas(
        min_replicas=1,
        max_replicas=3,
        target_ongoing_requests=1,
        upscale_delay_s=1,
        downscale_delay_s=3,
        look_back_period_s=10.5,
        **SMALL,
    )
    url = run(ingress=Replicas(**SMALL), answering=scaled)
    until(lambda: running("answering") == 1, "one replica")
    seen: list[int] = []

    async def drive() -> None:
        async with AsyncClient(url, TEXT) as client:
            stop = asyncio.Event()

            async def ask(number: int) -> None:
                while not stop.is_set():
                    prediction = await client.answer(f"What was the total revenue of CLDVC in FY202{number % 3}?")
                    assert prediction.status != "error"

            asking = [asyncio.create_task(ask(number)) for number in range(12)]
            for _ in range(240):
                await asyncio.sleep(0.5)
                seen.append(await asyncio.to_thread(running, "answering"))
                if seen[-1] == 3:
                    break
            stop.set()
            await asyncio.gather(*asking)

    asyncio.run(drive())
    assert max(seen) == 3, seen
    until(lambda: running("answering") == 1, "one replica again")


def test_killing_a_replica_under_load_loses_no_request(run: Callable[..., str], until: Until) -> None:
    url = run(ingress=Replicas(**SMALL), answering=Replicas(min_replicas=2, max_replicas=2, **SMALL))
    until(lambda: running("answering") == 2, "two replicas")
    victim, *_ = descendants("ServeReplica:finray:answering")

    async def drive() -> int:
        async with AsyncClient(url, TEXT, max_retries=8) as client:
            done = 0

            async def ask(number: int) -> None:
                nonlocal done
                for _ in range(10):
                    prediction = await client.answer(f"What was the net income of CLDVC in FY202{number % 3}?")
                    assert prediction.status != "error"
                    done += 1

            asking = [asyncio.create_task(ask(number)) for number in range(8)]
            while done < 10:
                await asyncio.sleep(0.05)
            victim.kill()
            await asyncio.gather(*asking)
            return done

    assert asyncio.run(drive()) == 80
    until(lambda: running("answering") == 2, "a replica in place of the one that died")


def test_several_ingress_replicas_share_one_keeper_of_batches(
    run: Callable[..., str], tmp_path: Path, until: Until, sample_questions: list[dict[str, Any]]
) -> None:
    place = {"serving.batches": str(tmp_path / "batches")}
    url = run(set=CHANGED | place, ingress=Replicas(**SMALL, min_replicas=2, max_replicas=2))
    content = "question\n" + "".join(f'"{line["question"]}"\n' for line in sample_questions[:8])
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TEXT}"}, timeout=60) as http:
        file = http.post("/v1/files", files={"file": ("q.csv", content)}).json()["id"]
        batch = http.post("/v1/batches", json={"input_file_id": file}).json()["id"]
        until(lambda: http.get(f"/v1/batches/{batch}").json()["status"] == "completed", "completed")
        for _ in range(6):  # whichever replica is asked
            assert http.get(f"/v1/batches/{batch}").json()["counts"]["waiting"] == 0
        assert len(http.get(f"/v1/batches/{batch}/download").text.splitlines()) == 8
        assert http.get(f"/v1/batches/{batch[:-1]}{'1' if batch[-1] == '0' else '0'}").status_code == 404

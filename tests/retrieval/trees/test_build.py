"""Trees of filings whose nodes a language model writes, over HTTP as in production."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from finray.core.errors import ModelReplyError
from finray.core.settings import Settings, load_settings
from finray.index.extensions.table import open_extension
from finray.index.extensions.update import extend_index
from finray.index.reading.reader import IndexReader
from finray.retrieval.trees.build import fingear_extension, raptor_extension
from finray.retrieval.trees.store import TreeStore
from tests.weightless import WEIGHTLESS

SMALL = {
    **WEIGHTLESS,
    "llm.max_retries": 0,
    "llm.prompt_price": 1.0,
    **{f"methods.{name}.writer": "llm" for name in ("fingear", "raptor")},
    **{f"methods.{name}.reduction": "spectral" for name in ("fingear", "raptor")},
    "methods.fingear.dimension": 2,
    "methods.raptor.max_clusters": 2,
    "methods.raptor.layers": 1,
}


def server(reply: Callable[[str], str]) -> FastAPI:
    """An OpenAI-compatible server; ``reply`` gets the instructions."""
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def complete(body: dict[str, Any]) -> dict[str, Any]:
        message = {"role": "assistant", "content": reply(body["messages"][0]["content"])}
        return {"choices": [{"message": message}], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}

    return app


def written(instructions: str) -> str:
    if instructions.startswith("Generate a title"):
        return "## Debt"
    if instructions.startswith("Suppose you are a financial analyst. Generate 5 questions"):
        return "1. What matures?\n2. What is owed?"
    return "A summary."


@pytest.fixture
def reader(sample_index: str, tmp_path: Path) -> IndexReader:
    index = shutil.copytree(sample_index, tmp_path / "index", ignore=shutil.ignore_patterns("extensions"))
    return IndexReader.open(str(index))


def settings(url: str) -> Settings:
    return load_settings(overrides={**SMALL, "llm.base_url": f"{url}/v1"}, environment={})


def test_a_model_writes_the_nodes_of_every_filing_and_its_tokens_are_counted(
    reader: IndexReader, listen: Callable[[Any], str]
) -> None:
    chosen = settings(listen(server(written)))
    extension = fingear_extension(chosen)
    summary = extend_index(reader, extension)
    for cost in summary.costs.values():
        assert (cost.prompt_tokens, cost.completion_tokens) == (300 * cost.nodes, 30 * cost.nodes)
        assert cost.cost == pytest.approx(cost.prompt_tokens / 1e6)
    assert sum(cost.nodes > 0 for cost in summary.costs.values()) > 1
    for trees in TreeStore(open_extension(reader, extension)).trees(list(summary.costs)).values():
        for _, node in trees.nodes:
            assert (node.title, node.questions) == ("Debt", ("What matures?", "What is owed?"))
            assert len(node.question_vectors) == 2


@pytest.mark.slow
def test_raptor_asks_once_a_node(reader: IndexReader, listen: Callable[[Any], str]) -> None:
    summary = extend_index(reader, raptor_extension(settings(listen(server(written)))))
    assert all(cost.prompt_tokens == 100 * cost.nodes for cost in summary.costs.values())


def test_a_reply_that_cannot_be_used_names_the_filing(reader: IndexReader, listen: Callable[[Any], str]) -> None:
    with pytest.raises(ModelReplyError, match=r"filing \S+: trees: the model wrote nothing, twice"):
        extend_index(reader, fingear_extension(settings(listen(server(lambda _: "")))))

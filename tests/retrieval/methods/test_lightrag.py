"""Retrieval by way of a knowledge graph; the model is a script."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.core.errors import IndexMismatchError, ModelReplyError
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.roles import AnsweredPassages
from finray.core.settings import load_settings
from finray.index.extensions.table import open_extension
from finray.index.extensions.update import extend_index
from finray.index.reading.reader import IndexReader
from finray.models.chat import Message
from finray.retrieval.methods import lightrag_rules
from finray.retrieval.methods.lightrag import graph_extension
from tests.scripted_chat import ScriptedChatModel

from .conftest import FAKES, Build, imagine

QUESTION = "Which operating leases of Grevandor Systems had not yet commenced?"


def keywords(low: Sequence[str], high: Sequence[str], answer: str = "") -> ScriptedChatModel:
    def script(messages: Sequence[Message]) -> str | dict[str, object]:
        if messages[0].content.startswith("You extract keywords"):
            return {"low_level_keywords": list(low), "high_level_keywords": list(high)}
        return answer

    return ScriptedChatModel(script)


async def test_low_level_keywords_lead_to_the_pages_of_entities(search_with: Build) -> None:
    model = keywords(["operating lease operating lease on this page"], ["dividends"])
    found = await search_with("lightrag", model, methods__lightrag__mode="local", methods__lightrag__top_k=1)(
        QUESTION, k=5
    )
    assert found and all("operating lease" in p.text for p in found)
    assert all(p.start == 0 and p.end == len(p.text) for p in found)


async def test_high_level_keywords_lead_to_the_pages_of_relations(search_with: Build) -> None:
    model = keywords(["x"], ["leases total assets risk total assets and risk"])
    found = await search_with("lightrag", model, methods__lightrag__mode="global", methods__lightrag__top_k=3)(
        QUESTION, k=5
    )
    assert found and all("total assets" in p.text or "risk" in p.text for p in found)


async def test_hybrid_takes_turns(search_with: Build) -> None:
    parameters = {"methods__lightrag__top_k": 3}
    model = keywords(["operating lease"], ["net income and total assets"])
    ways = {}
    for mode in ("local", "global", "hybrid"):
        search = search_with("lightrag", model, methods__lightrag__mode=mode, **parameters)
        ways[mode] = [(p.filing_id, p.page) for p in await search(QUESTION, k=6)]
    assert ways["hybrid"][0] == ways["local"][0]
    assert ways["hybrid"][1] in (ways["global"][0], ways["local"][1])
    assert set(ways["hybrid"]) <= set(ways["local"]) | set(ways["global"])


async def test_mix_adds_the_pages_nearest_to_the_question(search_with: Build) -> None:
    model = keywords(["operating lease"], ["net income and total assets"])
    hybrid, mix = [
        [
            (p.filing_id, p.page)
            for p in await search_with("lightrag", model, methods__lightrag__mode=mode, methods__lightrag__top_k=1)(
                QUESTION, k=12
            )
        ]
        for mode in ("hybrid", "mix")
    ]
    assert len(mix) == 12 > len(hybrid) and set(hybrid) <= set(mix)
    assert mix[:2] == hybrid[:2] and mix[2] not in hybrid[:2]


async def test_its_answer_reads_the_graph_and_cites_pages(search_with: Build) -> None:
    model = keywords(["operating lease"], ["leases"], "Page [2] says so. Therefore, the answer is 12 leases.")
    journal = Journal()
    search = search_with("lightrag", model, loop__answerer="method")
    query = Query(QUESTION, QUESTION)
    everything = await search.retrieval.documents.documents(query, 5, journal)
    found = await search.retrieval.passages.passages(query, everything, 4, journal)
    assert isinstance(found, AnsweredPassages)
    assert found.answer.text == "12 leases" and found.answer.evidence == (found[1],)
    shown = model.calls[-1][1].content
    assert "Entity: operating lease (" in shown and "Relation: " in shown
    assert journal.usage["lightrag"].calls == 2


@pytest.mark.parametrize("reply", ["no keywords", {"low_level_keywords": [], "high_level_keywords": [3]}])
async def test_unusable_keywords_are_counted_and_an_error(search_with: Build, reply: str | dict[str, object]) -> None:
    journal = Journal()
    with pytest.raises(ModelReplyError, match="asked for keywords"):
        await search_with("lightrag", ScriptedChatModel(lambda messages: reply))(QUESTION, journal=journal)
    assert journal.unusable == {"lightrag": 1}


async def test_by_rules_no_model_is_asked(search_with: Build) -> None:
    found = await search_with("lightrag_rules", None)("What was net income of Grevandor Systems?", k=5)
    assert found and found[0].doc_name.startswith("grevandor")


def test_graphs_are_built_once_and_resumed(sample_index: str, tmp_path: Path) -> None:
    settings = load_settings(overrides=FAKES, environment={})
    reader = IndexReader.open(str(shutil.copytree(sample_index, tmp_path / "index")), settings)
    shutil.rmtree(tmp_path / "index" / "extensions", ignore_errors=True)
    with pytest.raises(IndexMismatchError, match=r"finray extend --index .* --with lightrag"):
        open_extension(reader, graph_extension("lightrag", settings))
    pages = sum(len(text.strip()) >= 200 for text in reader.pages(None, ["text"])["text"].to_pylist())
    whole = ScriptedChatModel(imagine)
    done = extend_index(reader, graph_extension("lightrag", settings, whole))
    assert done.added == len(reader.filings()) and len(whole.calls) == pages
    assert all(cost.prompt_tokens > 0 or cost.nodes == 0 for cost in done.costs.values())
    again = ScriptedChatModel(imagine)
    assert extend_index(reader, graph_extension("lightrag", settings, again)).added == 0
    assert again.calls == []


def test_rules_and_model_have_graphs_of_their_own() -> None:
    settings = load_settings(overrides=FAKES, environment={})
    written, tagged = graph_extension("lightrag", settings), lightrag_rules.extension(settings)
    assert written.name != tagged.name
    assert "llm" in written.model and "llm" not in tagged.model


async def completions(scope: dict[str, Any], receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
    """A server of the OpenAI API as an ASGI application."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        event = await receive()
        body, more = body + event["body"], event["more_body"]
    text = imagine([Message(m["role"], m["content"]) for m in json.loads(body)["messages"]])
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    reply = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage}
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(reply).encode()})


def test_graphs_are_written_by_a_model_behind_http(
    sample_index: str, tmp_path: Path, listen: Callable[[Any], str]
) -> None:
    overrides = {**FAKES, "llm.base_url": f"{listen(completions)}/v1", "llm.prompt_price": 1.0}
    settings = load_settings(overrides=overrides, environment={})
    ignored = shutil.ignore_patterns("extensions")
    index = shutil.copytree(sample_index, tmp_path / "index", ignore=ignored)
    done = extend_index(IndexReader.open(str(index), settings), graph_extension("lightrag", settings))
    assert done.added > 1  # each in an event loop of its own
    asked = sum(cost.prompt_tokens for cost in done.costs.values())
    assert asked > 0 and sum(cost.cost for cost in done.costs.values()) == pytest.approx(asked / 1e6)

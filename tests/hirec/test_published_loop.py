"""`--preset hirec` end to end over the sample: fakes for its models, scripted replies of two language models."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi import FastAPI, Request

from finray.batch.predictions import decode, encode
from finray.core.errors import SettingsError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings, load_settings
from finray.engine import open_engine
from finray.index.extensions.update import extend_index
from finray.index.reading.reader import IndexReader
from finray.lab.evaluation.evaluate import evaluate
from finray.lab.evaluation.report import as_data
from finray.models.chat import Message
from finray.models.load_chat import disconnect
from finray.retrieval.methods.hirec import extension
from tests.scripted_chat import ScriptedChatModel

ASKED = "What was the net income of Grevandor Systems in fiscal 2022?"
REFINED = "What was the total revenue of Caldavale Outfitters in fiscal 2021?"
FAKES = {
    "encoder.model": "hash",
    "encoder.revision": "",
    "encoder.max_tokens": 256,
    "encoder.query_prefix": "",
    "encoder.passage_prefix": "",
    "document_reranker.model": "overlap",
    "passage_reranker.model": "overlap",
    "methods.hirec.summaries": "facts",
}
ENOUGH = "## is_answerable: answerable\n## answerable_doc_ids: [2, 1]\n## refined_query: None"
MORE = (
    "## is_answerable: unanswerable\n## missing_information: more\n## answer: None\n## answerable_doc_ids: [1]\n"
    f"## refined_query: {REFINED}"
)
PROGRAM = "```python\ndef solution():\n    return 40 + 2\n```"


@dataclass
class Curating:
    """The model of ``llm``: queries are the questions in capitals, curations are handed out in turn."""

    curations: Sequence[str]
    asked: list[str] = field(default_factory=list)
    curated: list[str] = field(default_factory=list)

    def __call__(self, messages: Sequence[Message]) -> str:
        (message,) = messages
        if message.content.startswith("You are an AI that rewrites"):
            question = message.content.partition("## Question: ")[2].partition("\n")[0]
            self.asked.append(question)
            return f"## Query: {question.upper()}"
        assert message.content.startswith("### Instruction")
        self.curated.append(message.content)
        return self.curations[len(self.curated) - 1]


@pytest.fixture
def settings() -> Settings:
    return load_settings("hirec", FAKES, environment={})


async def answered(
    index: str,
    settings: Settings,
    curating: Callable[[Sequence[Message]], str],
    reply: str = PROGRAM,
    asked: str = ASKED,
) -> tuple[Prediction, ScriptedChatModel]:
    generator = ScriptedChatModel(lambda _: reply)
    engine = open_engine(index, settings, chat=ScriptedChatModel(curating), answer_chat=generator)
    return await engine.answer(Question("q", asked)), generator


def test_the_preset_has_the_papers_numbers(settings: Settings) -> None:
    published = load_settings("hirec", environment={})
    chosen = published.retrieval
    assert (chosen.method, chosen.k_candidates, chosen.k_documents, chosen.k_passages) == ("hirec", 100, 5, 5)
    assert (published.loop.i_max, published.loop.max_kept) == (3, 10)
    assert (published.chunks.size, published.chunks.overlap) == (1024, 30)
    assert (published.llm.temperature, published.answer_llm.temperature) == (0.01, 0.01)
    assert (published.llm.model, published.answer_llm.model) == ("Qwen/Qwen2.5-7B-Instruct", "gpt-4o")
    assert published.methods.hirec.summaries == "llm"
    assert {published.loop.transform, published.loop.curator, published.loop.answerer} == {"hirec"}


def test_the_old_name_leads_to_the_new_one() -> None:
    with pytest.raises(SettingsError, match="the preset 'paper' is now called 'hirec'"):
        load_settings("paper", environment={})


async def test_an_unusable_curation_keeps_the_new_passages_too(sample_index: str) -> None:
    settings = load_settings("hirec", {**FAKES, "loop.max_kept": 2}, environment={})
    keep_two = MORE.replace("[1]", "[1, 2]")
    prediction, generator = await answered(sample_index, settings, Curating([keep_two, "perhaps"]))
    assert prediction.unusable == {"curate": 1} and prediction.iterations == 2
    assert 5 < len(prediction.context) <= 7
    assert generator.calls[0][1].content.count("Sources: ") == len(prediction.context)


async def test_enough_evidence_is_answered_from_by_the_other_model(sample_index: str, settings: Settings) -> None:
    curating = Curating([ENOUGH])
    prediction, generator = await answered(sample_index, settings, curating)
    assert (prediction.status, prediction.value, prediction.iterations) == ("answered", 42.0, 1)
    assert len(prediction.passages) == 5
    assert len(prediction.documents) <= 5
    assert prediction.evidence == (prediction.passages[1], prediction.passages[0])
    (messages,) = generator.calls
    assert messages[0].content.startswith("You are a financial expert, you are supposed to generate a Python program")
    assert messages[1].content.count("Sources: ") == 2
    assert len(curating.asked) == len(curating.curated) == 1
    assert set(prediction.usage) == {"transform", "curate", "answer"}
    assert prediction.unusable == {}


async def test_after_i_max_rounds_the_last_retrieval_is_answered_from(sample_index: str, settings: Settings) -> None:
    curating = Curating([MORE, MORE, MORE])
    prediction, generator = await answered(sample_index, settings, curating)
    assert prediction.iterations == len(curating.curated) == 3
    assert curating.asked == [ASKED, REFINED, REFINED, REFINED], "one retrieval more than curations"
    kept = prediction.passages[0]
    assert prediction.evidence[0] == kept, "what was kept stays"
    assert len(prediction.evidence) == 6
    assert any(p.doc_name.startswith("caldavale") for p in prediction.evidence[1:])
    assert generator.calls[0][1].content.count("Sources: ") == 6
    assert all(f"Question: {ASKED}\n" in prompt for prompt in curating.curated), "curation asks the question itself"
    assert curating.curated[1].count("(ID: ") == 6


async def test_an_unusable_curation_is_counted_and_all_retrieved_is_answered_from(
    sample_index: str, settings: Settings
) -> None:
    prediction, generator = await answered(sample_index, settings, Curating(["I am not sure."]))
    assert (prediction.status, prediction.iterations) == ("answered", 1)
    assert prediction.unusable == {"curate": 1}
    assert prediction.evidence == prediction.passages
    assert generator.calls[0][1].content.count("Sources: ") == 5


async def test_an_unusable_answer_is_an_error_and_counted(sample_index: str, settings: Settings) -> None:
    prediction, generator = await answered(sample_index, settings, Curating([ENOUGH]), "I do not know.")
    assert prediction.status == "error"
    assert prediction.unusable == {"answer": 1}
    assert set(prediction.usage) == {"transform", "curate", "answer"}, "its tokens were paid for"
    assert len(generator.calls) == 1


@pytest.mark.parametrize(
    "asked",
    [
        "What was the net income of Zorblax Inc. in fiscal 2022?",
        "What was Grevandor Systems' net income in fiscal 1987?",
    ],
    ids=["company", "year"],
)
async def test_no_rule_refuses_what_the_index_lacks(sample_index: str, settings: Settings, asked: str) -> None:
    prediction, generator = await answered(sample_index, settings, Curating([ENOUGH]), asked=asked)
    assert (prediction.status, prediction.value) == ("answered", 42.0)
    assert len(generator.calls) == 1


async def test_without_answer_llm_one_model_curates_and_answers(sample_index: str) -> None:
    settings = load_settings("hirec", FAKES | {"answer_llm.model": ""}, environment={})
    curating = Curating([ENOUGH])

    def reply(messages: Sequence[Message]) -> str:
        return PROGRAM if messages[0].role == "system" else curating(messages)

    prediction = await open_engine(sample_index, settings, chat=ScriptedChatModel(reply)).answer(Question("q", ASKED))
    assert prediction.value == 42.0


def test_one_call_cannot_be_made_of_two_models(sample_index: str) -> None:
    overrides = {"encoder.model": "hash", "answer_llm.model": "another"}
    with pytest.raises(SettingsError, match="one_call"):
        open_engine(sample_index, load_settings("model", overrides, environment={}))


def test_the_answering_model_is_part_of_what_resumes(settings: Settings) -> None:
    other = load_settings("hirec", FAKES | {"answer_llm.model": "gpt-4o-mini"}, environment={})
    chained = load_settings("hirec", FAKES | {"loop.generation": "chain"}, environment={})
    assert len({settings.answer_hash(), other.answer_hash(), chained.answer_hash()}) == 3


async def test_unusable_replies_reach_the_report(sample_index: str, settings: Settings) -> None:
    prediction, _ = await answered(sample_index, settings, Curating(["Hm."]), "I do not know.")
    assert decode(encode(prediction)).unusable == {"curate": 1, "answer": 1}
    evaluation = evaluate([prediction], [Question("q", ASKED, answer="42", value=42.0)])
    assert evaluation.unusable == {"curate": 1, "answer": 1}
    assert as_data(evaluation)["unusable"] == {"curate": 1, "answer": 1}


@pytest.mark.slow
def test_two_servers_from_the_cover_summaries_to_the_answer(
    sample_index: str, tmp_path: Path, listen: Callable[[Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is asked for its own model with its own key, and each stage is paid at its own model's prices."""
    asked: dict[str, list[tuple[str, str]]] = {"small": [], "large": []}
    curating = Curating([ENOUGH])

    def server(model: str, reply: Callable[[Sequence[Message]], str]) -> str:
        application = FastAPI()

        @application.post("/v1/chat/completions")
        async def complete(request: Request) -> dict[str, Any]:
            body = await request.json()
            assert body["model"] == model
            assert body["temperature"] == 0.01
            assert "response_format" not in body
            messages = [Message(**message) for message in body["messages"]]
            asked[model].append((messages[0].content[:30], request.headers["authorization"]))
            usage = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000}
            return {"choices": [{"message": {"content": reply(messages)}}], "usage": usage}

        return f"{listen(application)}/v1"

    def small(messages: Sequence[Message]) -> str:
        summarize = messages[0].content.startswith("You are a helpful assistant.")
        return " ".join(messages[0].content.split()[:40]) if summarize else curating(messages)

    monkeypatch.setenv("SMALL_KEY", "s1")
    monkeypatch.setenv("LARGE_KEY", "l1")
    overrides = {
        **FAKES,
        "methods.hirec.summaries": "llm",
        "llm.base_url": server("small", small),
        "llm.model": "small",
        "llm.api_key_env": "SMALL_KEY",
        "llm.prompt_price": 0.1,
        "answer_llm.base_url": server("large", lambda _: PROGRAM),
        "answer_llm.model": "large",
        "answer_llm.api_key_env": "LARGE_KEY",
    }
    settings = load_settings("hirec", overrides, environment={})
    index = str(shutil.copytree(sample_index, tmp_path / "index", ignore=shutil.ignore_patterns("extensions")))
    summary = extend_index(IndexReader.open(index, settings), extension(settings))
    assert {cost.cost for cost in summary.costs.values()} == {0.1}
    engine: Any = open_engine(index, settings)

    async def answer() -> Prediction:
        try:
            return cast(Prediction, await engine.answer(Question("q", ASKED)))
        finally:
            for role in (engine.roles.reader, engine.roles.answerer):
                await disconnect(role._model)

    prediction = asyncio.run(answer())
    assert (prediction.status, prediction.value) == ("answered", 42.0)
    costs = {stage: used.cost for stage, used in prediction.usage.items()}
    assert costs == {"transform": 0.1, "curate": 0.1, "answer": 2.5 + 1.0}
    assert {key for _, key in asked["small"]} == {"Bearer s1"}
    assert len(asked["small"]) == summary.filings + 2
    assert asked["large"] == [("You are a financial expert, yo", "Bearer l1")]

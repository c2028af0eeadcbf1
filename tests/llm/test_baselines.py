"""Methods that ask a language model several times, with a real one. It is far too weak to answer: what counts is that
every question ends in a prediction with its calls, and that every unusable reply is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.predictions import Prediction
from finray.core.query import Query
from finray.core.questions import Question
from finray.core.settings import LlmSettings, load_settings
from finray.engine import open_engine
from finray.lab.evaluation.judging.context_judge import judge_context
from finray.models.chat import ChatModel
from finray.models.load_chat import load_chat
from finray.models.vllm_engine import shared_vllm
from finray.retrieval.graph.written import written_graph
from finray.retrieval.methods.self_rag_prompted import GradedPassages
from finray.retrieval.trees.texts import Piece
from finray.retrieval.trees.written import LlmWriter

pytestmark = [pytest.mark.llm, pytest.mark.timeout(900), pytest.mark.filterwarnings("default")]

SMALL = {
    "retrieval.k_passages": 2,
    "methods.self_rag_prompted.segments": 2,
    "methods.rq_rag_prompted.depth": 1,
    "methods.rq_rag_prompted.step_passages": 2,
    "methods.long_context.context_tokens": 3_000,
    "methods.multi_hyde.passages": 2,
    "methods.multi_hyde.sampled": True,
    "methods.ircot.steps": 2,
    "methods.ircot.step_passages": 1,
}
PAGE = (
    "Acme Corporation reported revenue of $1,577 million in fiscal 2022, compared with $1,402 million in fiscal 2021. "
    "Product sales rose because of the launch of the Falcon sensor in Europe. "
) * 3
WRITING = ("hyde", "multi_hyde", "ircot")
"""Methods that write queries and no answer."""
QUESTIONS = [
    Question("q1", "What was the total revenue of Grevandor Systems in fiscal 2022?"),
    Question("q2", "Did net income of Grevandor Systems rise in fiscal 2022?"),
]


@pytest.fixture(scope="module")
def chat(llm: LlmSettings) -> Iterator[ChatModel]:
    engine = shared_vllm(llm).engine
    yield load_chat(llm)
    engine.close()


def test_every_question_ends_in_a_prediction_with_its_calls(chat: ChatModel, sample_index: str) -> None:
    async def ask(name: str) -> Sequence[Prediction]:
        answerer = "none" if name in WRITING else "method"
        overrides = {"encoder.model": "hash", "retrieval.method": name, "loop.answerer": answerer, **SMALL}
        engine = open_engine(sample_index, load_settings("baselines", overrides, environment={}), chat=chat)
        return [await engine.answer(question) for question in QUESTIONS]

    calls = {}
    for name in ("zero_shot", "long_context", "self_rag_prompted", "rq_rag_prompted", *WRITING):
        predictions = asyncio.run(ask(name))
        calls[name] = [sum(usage.calls for usage in p.usage.values()) for p in predictions]
        for prediction in predictions:
            assert prediction.status != "error" or str(prediction.error).startswith("ModelReplyError"), prediction.error
            assert prediction.status != "error" or sum(prediction.unusable.values()) > 0
            assert all(usage.completion_tokens > 0 for usage in prediction.usage.values())
    assert calls["zero_shot"] == calls["long_context"] == [1, 1]
    assert all(2 <= number <= 6 for number in calls["self_rag_prompted"])
    assert all(3 <= number <= 7 for number in calls["rq_rag_prompted"])
    assert calls["hyde"] == [1, 1] and calls["multi_hyde"] == [2, 2]
    assert all(1 <= number <= 2 for number in calls["ircot"])


async def test_what_is_written_beside_an_index_and_judged_is_read_or_refused(chat: ChatModel, llm: LlmSettings) -> None:
    """LightRAG's graph, a node of FinGEAR's trees, a grade of Self-RAG and a judgement of passages, one of each."""
    longer = load_chat(llm.model_copy(update={"max_tokens": 96}))
    passage = Passage("acme-10k", "acme", 4, 0, len(PAGE), PAGE, 1.0)
    asked = Question("q", "What was the revenue of Acme in fiscal 2022?", answer="$1,577 million")
    try:
        graph, usage = await written_graph(longer, [(4, PAGE)], "acme-10k")
        assert graph.entities or graph.relations or not graph.unusable
        assert usage.completion_tokens > 0
    except ModelReplyError as error:
        assert "is a list of entities" in str(error)
    node = await LlmWriter(longer, 100, 1_000, 2).write([Piece(PAGE)])
    assert node.title and "\n" not in node.title and node.summary and len(node.questions) <= 2
    assert node.usage.completion_tokens > 0
    journal = Journal()
    graded = GradedPassages(Given(passage), longer).passages(Query(asked.question, asked.question), [], 1, journal)
    try:
        assert set(await graded) <= {passage}
    except ModelReplyError:
        assert journal.unusable == {"self_rag": 1}
    scores, usage = await judge_context(longer, asked, [passage])
    assert scores is None or (scores.precision in (0.0, 1.0) and scores.relevancy in (0.0, 0.5, 1.0))
    assert 2 <= usage.calls <= 4


@dataclass(frozen=True)
class Given:
    passage: Passage

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        return [self.passage]

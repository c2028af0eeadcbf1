"""Replies to the prompts of the multi-call methods, written by hand in the forms that chat models give them: Markdown,
code fences, bold tokens and lists."""

from __future__ import annotations

import asyncio
import json

import pytest

from finray.core.journal import Journal
from finray.core.method_settings import SelfRagParameters
from finray.core.passages import Passage
from finray.core.query import Query
from finray.core.questions import Question
from finray.lab.evaluation.context import ContextScores
from finray.lab.evaluation.judging.context_judge import judge_context
from finray.models.conversation import conversation
from finray.retrieval.graph.keywords import asked_keywords
from finray.retrieval.graph.written import read_graph
from finray.retrieval.methods.asking import Asker
from finray.retrieval.methods.self_rag_prompted import GRADE, SEGMENT, read_segment
from finray.retrieval.trees.texts import Piece
from finray.retrieval.trees.written import LlmWriter
from tests.scripted_chat import ScriptedChatModel

PASSAGE = Passage("acme-10k", "acme", 4, 0, 9, "Revenue was $5 million.", 1.0)


def saying(*replies: str) -> ScriptedChatModel:
    waiting = iter(replies)
    return ScriptedChatModel(lambda messages: next(waiting))


@pytest.mark.parametrize(
    "reply",
    [
        "[Relevant] Acme's revenue was $5 million in fiscal 2022. [Fully supported] [Utility:5] [No Retrieval]",
        "**[Relevant]** Acme's revenue was $5 million in fiscal 2022. **[Fully supported]** **[Utility:5]** "
        "**[No Retrieval]**",
        "[Relevant]\nAcme's revenue was $5 million in fiscal 2022.\n[Fully Supported]\n[Utility: 5]\n[No Retrieval]",
    ],
)
def test_a_sentence_of_self_rag(reply: str) -> None:
    segment = read_segment(reply, PASSAGE, SelfRagParameters())
    assert segment is not None and (segment.score, segment.next) == (2.5, "stop")
    assert segment.text.strip("* ") == "Acme's revenue was $5 million in fiscal 2022."


@pytest.mark.parametrize(
    "reply",
    [
        "Acme revenue fiscal 2022 total net sales",
        'Rewritten query: "Acme revenue fiscal 2022 total net sales"',
        "1. Acme revenue fiscal 2022 total net sales\n2. Acme net sales by segment",
        "**Search query:** Acme revenue fiscal 2022 total net sales",
    ],
)
async def test_a_query_of_rq_rag(reply: str) -> None:
    query = await Asker(saying(reply), "rq_rag", Journal()).query(conversation(SEGMENT, "How much?"))
    assert query == "Acme revenue fiscal 2022 total net sales"


@pytest.mark.parametrize(
    "reply",
    [
        '{"high_level_keywords": ["revenue growth"], "low_level_keywords": ["Acme", "fiscal 2022"]}',
        'Here you go:\n```json\n{\n "high_level_keywords": ["revenue growth"],\n "low_level_keywords": '
        '["Acme", "fiscal 2022"]\n}\n```',
        "## high_level_keywords\n- revenue growth\n\n## low_level_keywords\n- Acme\n- fiscal 2022",
    ],
)
async def test_keywords_of_lightrag(reply: str) -> None:
    found = await asked_keywords(Query("q", "q"), Asker(saying(reply), "lightrag", Journal()))
    assert "Acme" in found.low and "fiscal 2022" in found.low and "revenue growth" in found.high


@pytest.mark.parametrize(
    "reply",
    [
        "entity<|>Acme Corp<|>organization<|>Reports revenue of $5 million.\n"
        "entity<|>Revenue<|>line item<|>$5 million in fiscal 2022.\n"
        "relation<|>Acme Corp<|>Revenue<|>Acme reports it.<|>results, sales<|>9\n<|COMPLETE|>",
        '```\n("entity"<|>"Acme Corp"<|>"organization"<|>"Reports revenue of $5 million.")##\n'
        '("entity"<|>"Revenue"<|>"line item"<|>"$5 million in fiscal 2022.")##\n'
        '("relationship"<|>"Acme Corp"<|>"Revenue"<|>"Acme reports it."<|>"results, sales"<|>9)'
        "<|COMPLETE|>\n```",
    ],
)
def test_a_graph_of_lightrag(reply: str) -> None:
    entities, relations = read_graph(reply, 4)
    assert [(e.name, e.kind) for e in entities] == [("Acme Corp", "organization"), ("Revenue", "line item")]
    assert [(r.source, r.target, r.keywords, r.weight) for r in relations] == [
        ("Acme Corp", "Revenue", "results, sales", 9.0)
    ]


@pytest.mark.parametrize(
    ("title", "questions"),
    [
        ("Revenue and Margins", "What was revenue?\nHow did margins change?"),
        ("## **Revenue and Margins**", "1. What was revenue?\n2. How did margins change?"),
        ('"Revenue and Margins"\n', "- **What was revenue?**\n\n- **How did margins change?**"),
    ],
)
async def test_a_node_of_fingear(title: str, questions: str) -> None:
    summary = "# Summary\nRevenue was $5 million.\n\n## Key insights\n1. Margins rose."
    node = await LlmWriter(saying(summary, title, questions), 650, 2_000, 5).write([Piece("Revenue was $5 million.")])
    assert (node.title, node.summary) == ("Revenue and Margins", summary)
    assert node.questions == ("What was revenue?", "How did margins change?")


@pytest.mark.parametrize("grade", ["[Relevant]", "**[Relevant]**", "[relevant].", "The grade is [ Relevant ]"])
def test_a_grade_of_self_rag_in_langgraph(grade: str) -> None:
    assert "[Relevant]" in GRADE and read_segment(f"{grade} x [No support]", PASSAGE, SelfRagParameters()) is not None


def test_a_judgement_of_the_context() -> None:
    relevance = {"relevant": [1], "relevancy": 2}
    support = {"statements": ["Acme's revenue was $5 million.", "It was that of 2022."], "supported": [1]}
    fenced = [f"```json\n{json.dumps(reply)}\n```" for reply in (relevance, support)]
    sections = [
        "## relevant\n[1]\n## relevancy\n2",
        "## statements\n1. Acme's revenue was $5 million.\n2. It was that of 2022.\n## supported\n1",
    ]
    asked = Question("q", "What was revenue in 2022?", answer="$5 million")
    for replies in (fenced, sections):
        scores, _ = asyncio.run(judge_context(saying(*replies), asked, [PASSAGE, PASSAGE]))
        assert scores == ContextScores(0.5, 0.5, 1.0)

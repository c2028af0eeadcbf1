"""RQ-RAG's tree of refined queries; the model is a script."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import pytest

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.method_settings import RqRagParameters
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.roles import AnsweredPassages
from finray.models.chat import Message
from finray.retrieval.methods.rq_rag_prompted import REFINEMENTS, RefinedQueries
from tests.scripted_chat import ScriptedChatModel

WAYS = {instructions: way for way, instructions in REFINEMENTS.items()}


class Searched:
    """Finds passages named after the query; ``same`` finds the same for every query."""

    def __init__(self, *, same: bool = False) -> None:
        self.queries: list[str] = []
        self._same = same

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        self.queries.append(query.question)
        name = "same" if self._same else query.question
        return [Passage(name, name, page, 0, 9, f"{name} {page}", 1.0) for page in range(k)]


def refine(messages: Sequence[Message]) -> str:
    """A query that names its way and depth, an answer that names its queries."""
    way = WAYS.get(messages[0].content)
    if way is None:
        return "Seen in [1]. Therefore, the answer is 5."
    return f"{way} {messages[1].content.count('Earlier query')}"


async def run(
    script: Callable[[Sequence[Message]], str], *, k: int = 99, answers: bool = True, same: bool = False
) -> tuple[Sequence[Passage], Journal, ScriptedChatModel, Searched]:
    model, journal, searched = ScriptedChatModel(script), Journal(), Searched(same=same)
    method = RefinedQueries(searched, model, RqRagParameters(), answers=answers)
    found = await method.passages(Query("How much?", "How much?"), [], k, journal)
    return found, journal, model, searched


async def test_the_published_tree_has_twelve_queries_and_36_passages() -> None:
    found, journal, model, searched = await run(refine, answers=False)
    assert len(searched.queries) == len(model.calls) == 3 + 9
    assert searched.queries.count("rewrite 0") == 1 and searched.queries.count("decompose 1") == 3
    assert len(found) == 6 * 3  # here the nine queries of depth 2 are three different ones
    assert not isinstance(found, AnsweredPassages)
    assert journal.usage["rq_rag"].calls == 12


async def test_passages_that_several_queries_find_count_once() -> None:
    found, _, _, _ = await run(refine, answers=False, same=True)
    assert [p.page for p in found] == [0, 1, 2]
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)


async def test_every_path_answers_and_the_majority_wins() -> None:
    def script(messages: Sequence[Message]) -> str:
        if messages[0].content in WAYS:
            return refine(messages)
        # "$1,250 million" and "$1250 million" are one answer: that of rewriting first, and of its three children.
        if "rewrite 0" in messages[1].content:
            sum_ = "$1,250 million" if "rewrite 1" in messages[1].content else "$1250 million"
            return f"As [1] prints. Therefore, the answer is {sum_}."
        return f"Therefore, the answer is {zlib.crc32(messages[1].content.encode())}."

    found, journal, model, _ = await run(script)
    assert isinstance(found, AnsweredPassages)
    assert len(model.calls) == 12 + 13
    assert found.answer.text in ("$1,250 million", "$1250 million")
    assert [p.doc_name for p in found.answer.evidence] == ["rewrite 0"]
    assert any("rq_rag: 4 of 13 paths answer" in line for line in journal.lines)


async def test_later_queries_see_what_earlier_ones_found() -> None:
    _, _, model, _ = await run(refine, answers=False)
    deeper = [call[1].content for call in model.calls[3:]]
    assert all("passage-" in text and "Earlier query: " in text for text in deeper)
    assert not any("passage-" in call[1].content for call in model.calls[:3])


async def test_a_branch_without_query_ends_and_is_counted() -> None:
    def script(messages: Sequence[Message]) -> str:
        return "" if WAYS.get(messages[0].content) == "decompose" else refine(messages)

    _, journal, _, searched = await run(script)
    assert len(searched.queries) == 2 + 4
    assert journal.unusable == {"rq_rag": 3}


async def test_paths_whose_answer_is_unusable_have_no_vote() -> None:
    def script(messages: Sequence[Message]) -> str:
        if messages[0].content in WAYS:
            return refine(messages)
        return "Hm." if "passage-" in messages[1].content else "Therefore, the answer is 3."

    found, journal, _, _ = await run(script)
    assert isinstance(found, AnsweredPassages)
    assert found.answer.text == "3"
    assert journal.unusable == {"rq_rag": 12}


async def test_no_query_or_no_answer_at_all_is_an_error() -> None:
    with pytest.raises(ModelReplyError, match="no reply is a search query"):
        await run(lambda messages: "")
    with pytest.raises(ModelReplyError, match="none of 13 replies has a conclusion"):
        await run(lambda messages: "a query" if messages[0].content in WAYS else "Hm.")


async def test_a_refusal_loses_against_any_answer() -> None:
    def script(messages: Sequence[Message]) -> str:
        if messages[0].content in WAYS:
            return refine(messages)
        answer = "not available" if "passage-" in messages[1].content else "3"
        return f"Therefore, the answer is {answer}."

    found, _, _, _ = await run(script)
    assert isinstance(found, AnsweredPassages)
    assert (found.answer.status, found.answer.text) == ("answered", "3")

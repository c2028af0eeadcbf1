"""Language-model roles over scripted replies: what is asked, what is believed, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from finray.errors import ModelReplyError
from finray.hirec.llm_roles import LlmAnswerer, LlmCurator, LlmTransformer
from finray.hirec.rules import PlainTransformer
from finray.journal import Journal
from finray.models.chat import ScriptedChatModel
from finray.retrieval.query import Query
from finray.types import Passage, TokenUsage

QUERY = Query("What was revenue?", "revenue")
PASSAGES = tuple(Passage("ACME_10K", "f", page, 0, 10, f"text {page}", 1.0) for page in range(3))
CURATED: dict[str, Any] = {"relevant_ids": [2], "answerable": True, "missing": "", "follow_up_question": ""}
ANSWERED: dict[str, Any] = {
    "reasoning": "40 + 2", "answerable": True, "answer": "$42", "value": 42, "unit": "USD", "citations": [3, 1],
}  # fmt: skip


def always(reply: str | Mapping[str, Any]) -> ScriptedChatModel:
    return ScriptedChatModel(lambda _: reply)


async def test_the_curator_keeps_what_the_model_names() -> None:
    curation = await LlmCurator(always(CURATED)).curate(QUERY, PASSAGES, Journal())
    assert curation.kept == (PASSAGES[1],)
    assert curation.answerable
    assert curation.complementary is None
    assert curation.missing == ()


async def test_an_id_out_of_range_costs_no_other_passage() -> None:
    """HiREC's code drops every passage when one id is wrong."""
    journal = Journal()
    model = always(CURATED | {"relevant_ids": [1, 99, 0, -1, "2", True, 3, 1, None]})
    curation = await LlmCurator(model).curate(QUERY, PASSAGES, journal)
    assert curation.kept == (PASSAGES[0], PASSAGES[2])
    dropped = [line for line in journal.lines if "dropped passage id" in line]
    assert len(dropped) == 6
    assert "99" in dropped[0]


async def test_the_curator_asks_for_what_is_missing() -> None:
    reply = CURATED | {"answerable": False, "missing": "FY2020", "follow_up_question": "What of FY2020?"}
    curation = await LlmCurator(always(reply)).curate(QUERY, PASSAGES, Journal())
    assert not curation.answerable
    assert curation.missing == ("FY2020",)
    assert curation.complementary == "What of FY2020?"


async def test_nothing_is_asked_about_no_passages() -> None:
    model = always(CURATED)
    assert not (await LlmCurator(model).curate(QUERY, (), Journal())).answerable
    assert (await LlmAnswerer(model).answer(QUERY, (), Journal())).status == "unanswerable"
    assert model.calls == []


async def test_an_answer_has_its_number_unit_reasoning_and_citations() -> None:
    journal = Journal()
    answer = await LlmAnswerer(always(ANSWERED)).answer(QUERY, PASSAGES, journal)
    assert (answer.text, answer.status, answer.value, answer.unit) == ("$42", "answered", 42.0, "USD")
    assert answer.program == "40 + 2"
    assert answer.evidence == (PASSAGES[2], PASSAGES[0])
    assert journal.usage["answer"].prompt_tokens > 0


async def test_an_answer_in_words_has_no_number() -> None:
    reply = ANSWERED | {"answer": "Growth.", "value": None, "unit": None, "reasoning": ""}
    answer = await LlmAnswerer(always(reply)).answer(QUERY, PASSAGES, Journal())
    assert (answer.value, answer.unit, answer.program) == (None, None, None)


@pytest.mark.parametrize("citations", [[], [7], [0]])
async def test_an_answer_without_a_citation_is_none(citations: list[int]) -> None:
    answer = await LlmAnswerer(always(ANSWERED | {"citations": citations})).answer(QUERY, PASSAGES, Journal())
    assert answer.status == "unanswerable"
    assert answer.value is None
    assert answer.missing


async def test_the_model_may_say_that_it_cannot_answer() -> None:
    reply = ANSWERED | {"answerable": False, "answer": "FY2020 is not shown", "citations": []}
    answer = await LlmAnswerer(always(reply)).answer(QUERY, PASSAGES, Journal())
    assert (answer.status, answer.value, answer.missing) == ("unanswerable", None, ("FY2020 is not shown",))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"relevant_ids": None}, "relevant_ids"),
        ({"relevant_ids": "1, 2"}, "relevant_ids"),
        ({"answerable": "false"}, "answerable"),
        ({"answerable": None}, "answerable"),
        ({"follow_up_question": ["a"]}, "follow_up_question"),
    ],
)
async def test_a_curation_of_another_shape_is_refused(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(ModelReplyError, match=f"curate: .*{named}"):
        await LlmCurator(always(CURATED | changed)).curate(QUERY, PASSAGES, Journal())


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"answer": ""}, "answer"),
        ({"answer": 42}, "answer"),
        ({"answerable": 1}, "answerable"),
        ({"value": "42"}, "value"),
        ({"value": True}, "value"),
        ({"value": float("nan")}, "value"),
        ({"value": float("inf")}, "value"),
        ({"value": 10**400}, "value"),
        ({"unit": {"in": "USD"}}, "unit"),
        ({"citations": None}, "citations"),
    ],
)
async def test_an_answer_of_another_shape_is_refused(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(ModelReplyError, match=f"answer: .*{named}"):
        await LlmAnswerer(always(ANSWERED | changed)).answer(QUERY, PASSAGES, Journal())


async def test_prose_in_place_of_an_object_is_refused_but_its_tokens_are_counted() -> None:
    journal = Journal()
    with pytest.raises(ModelReplyError, match="curate: asked for a JSON object, got 'Sure"):
        await LlmCurator(always("Sure! Here you are.")).curate(QUERY, PASSAGES, journal)
    assert journal.usage["curate"].completion_tokens == 4


async def test_the_transformer_rewrites_the_text_alone() -> None:
    model = always({"query": "  Acme total revenue fiscal 2022 "})
    journal = Journal()
    query = await LlmTransformer(model, PlainTransformer()).transform("Pray, what was it?", journal)
    assert (query.question, query.text) == ("Pray, what was it?", "Acme total revenue fiscal 2022")
    assert journal.usage["transform"] != TokenUsage()


@pytest.mark.parametrize("reply", [{}, {"query": ""}, {"query": None}, {"query": ["a"]}])
async def test_no_query_is_no_transformation(reply: dict[str, Any]) -> None:
    with pytest.raises(ModelReplyError, match=r"transform: .*query"):
        await LlmTransformer(always(reply), PlainTransformer()).transform("q", Journal())

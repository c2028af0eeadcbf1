"""Questions made open-domain, by rules and by recorded replies of a language model."""

from __future__ import annotations

import asyncio

import pytest

from finray.core.filing import Filing
from finray.lab.datasets.lofin_builder.rewriting import by_model, by_rules, names_company, names_year
from tests.scripted_chat import ScriptedChatModel

LMT = Filing("1", "LMT_2016_10K", "x", "y", "LOCKHEED MARTIN CORPORATION", "10-K", ticker="LMT", aliases=("Lockheed",))


def ruled(question: str) -> str:
    return asyncio.run(by_rules(question, LMT, 2016)).text


def test_rules_put_company_form_and_year_in_front() -> None:
    expected = (
        "According to Lockheed Martin's 10-K for fiscal year 2016, what are the total operating expenses for 2016?"
    )
    assert ruled("What are the total operating expenses for 2016?") == expected


@pytest.mark.parametrize(
    "question", ["What was Lockheed Martin's revenue in 2016?", "LMT revenue FY16?", "lockheed: 2016 sales"]
)
def test_a_question_that_names_both_stays(question: str) -> None:
    assert ruled(question) == question


def test_names_and_years_are_whole_words() -> None:
    assert not names_company("What was Martin Marietta's revenue? LMTX?", LMT)
    assert not names_year("page 20161", 2016)
    assert not names_year("FY2017", 2016)


def test_the_model_s_question_is_taken() -> None:
    reply = (
        "##new_question: Could you provide the total operating expenses reported by Lockheed Martin for the year 2016?"
    )
    model = ScriptedChatModel(lambda messages: reply)
    rewritten = asyncio.run(by_model(model)("what are the total operating expenses for 2016?", LMT, 2016))
    assert (rewritten.text, rewritten.by) == (reply.partition(": ")[2], "llm")
    assert rewritten.usage.prompt_tokens > 0
    (prompt,) = (message.content for message in model.calls[0])
    assert "- company ticker: LMT" in prompt and "- document_period: 2016" in prompt
    assert prompt.endswith("Output format is ##new_question:")


@pytest.mark.parametrize(
    "reply", ["", "I cannot.", "##new_question:", "##new_question: What were the expenses in 2016?"]
)
def test_a_reply_without_company_or_year_is_counted_and_replaced(reply: str) -> None:
    model = ScriptedChatModel(lambda messages: reply)
    rewritten = asyncio.run(by_model(model)("what were the expenses?", LMT, 2016))
    assert rewritten.by == "unusable reply"
    assert rewritten.text.startswith("According to Lockheed Martin's 10-K for fiscal year 2016, what")

"""Follow-ups completed by a language model, over scripted replies, and in the loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from finray.core.filing import Filing
from finray.core.journal import Journal
from finray.core.questions import Question
from finray.core.roles import Resolution
from finray.engine import Engine
from finray.hirec.model_conversation import ModelConversation
from finray.question.companies.catalog import CompanyCatalog
from finray.question.follow_ups.conversation import RuleConversation
from finray.question.rule_reader import RuleReader
from tests.scripted_chat import ScriptedChatModel

RULES = RuleConversation(
    RuleReader(
        CompanyCatalog(
            [
                Filing("f1", "ACME_10K", "", "", "Acme Widgets, Inc.", "10-K", cik="7", fiscal_year=2022),
                Filing("f2", "PEPSI_10K", "", "", "PepsiCo, Inc.", "10-K", cik="8", fiscal_year=2022),
            ]
        )
    )
)
FIRST = "What was the revenue of Acme Widgets in FY2022?"


async def resolve(question: str, *replies: str | Mapping[str, Any]) -> tuple[Resolution, ScriptedChatModel, Journal]:
    waiting = list(replies)
    model = ScriptedChatModel(lambda _: waiting.pop(0))
    journal = Journal()
    return await ModelConversation(model, RULES).resolve(question, [FIRST], journal), model, journal


async def test_a_model_completes_what_rules_cannot_read() -> None:
    reply = {"question": "How much did Acme Widgets' revenue in FY2022 come to per employee?", "unclear": ""}
    found, model, journal = await resolve("And by head, so to speak?", reply)
    assert found == Resolution(reply["question"])
    assert FIRST in model.calls[0][-1].content
    assert journal.usage["conversation"].calls == 1


async def test_a_complete_question_asks_no_model() -> None:
    question = "What was PepsiCo's net income in 2021?"
    found, model, _ = await resolve(question)
    assert found == Resolution(question)
    assert not model.calls


async def test_a_model_may_find_the_question_unclear() -> None:
    found, _, _ = await resolve("and theirs?", {"question": "", "unclear": "which company is meant"})
    assert found == Resolution("and theirs?", "which company is meant")


@pytest.mark.parametrize(
    "wrong",
    [
        "What was the revenue of Acme Widgets in FY2022?",
        "What was the revenue of Acme Widgets in 2021 and FY2022?",
        "What was the revenue of PepsiCo in 2021?",
        "What was the revenue of Acme Widgets?",
    ],
)
async def test_a_reply_that_changes_what_was_named_is_not_used(wrong: str) -> None:
    found, _, journal = await resolve("and in 2021?", {"question": wrong, "unclear": ""})
    assert found == Resolution("What was the revenue of Acme Widgets in 2021?")
    assert any("changes companies or periods" in line for line in journal.lines)


async def test_rules_complete_the_question_if_the_reply_stays_unusable() -> None:
    found, _, journal = await resolve("what about PepsiCo?", "no JSON", {"question": 3, "unclear": ""})
    assert found == Resolution("What was the revenue of PepsiCo in FY2022?")
    assert journal.unusable["conversation"] == 2


async def test_the_engine_answers_the_completed_question(engine: Engine) -> None:
    first = "What was Grevandor Systems' revenue in fiscal 2022?"
    alone = await engine.answer(Question("1", "What was Grevandor Systems' revenue in 2021?"))
    follow_up = await engine.answer(Question("2", "and in 2021?", context=(first,)))
    assert follow_up.question == "and in 2021?"
    assert follow_up.resolved == alone.question
    assert (follow_up.value, follow_up.status) == (alone.value, "answered")
    assert f"conversation: {alone.question}" in follow_up.trace
    assert alone.resolved is None


async def test_the_engine_answers_no_unclear_question(engine: Engine) -> None:
    first = "What was Grevandor Systems' revenue in fiscal 2022?"
    found = await engine.answer(Question("1", "and last year?", context=(first,)))
    assert (found.status, found.value, found.unclear) == (
        "unanswerable",
        None,
        "which fiscal period “last year” means",
    )
    assert "Please ask it in full" in found.answer
    assert not found.passages


async def test_a_context_that_is_no_text_is_an_error(engine: Engine) -> None:
    found = await engine.answer(Question("1", "and in 2021?", context=("a\x00",)))
    assert found.status == "error"

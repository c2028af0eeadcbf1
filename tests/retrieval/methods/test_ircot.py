"""Retrieval and reasoning in turns; the model is a script."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.models.chat import Message
from tests.scripted_chat import ScriptedChatModel

from .conftest import Build

QUESTION = "What did Grevandor Systems report?"
SENTENCE = "The operating lease commitments that had not yet commenced are undiscounted future payments."


def reasoner(*sentences: str) -> ScriptedChatModel:
    waiting = list(sentences)
    return ScriptedChatModel(lambda messages: waiting.pop(0) if len(waiting) > 1 else waiting[0])


async def test_a_sentence_of_the_reasoning_finds_what_the_question_does_not(search_with: Build) -> None:
    alone = await search_with("ircot", reasoner("So the answer is: nothing."))(QUESTION, k=10)
    assert not any("had not yet commenced" in p.text for p in alone)
    model = reasoner(SENTENCE, "So the answer is: 12.")
    found = await search_with("ircot", model)(QUESTION, k=10)
    assert any("had not yet commenced" in p.text for p in found)
    assert [(p.filing_id, p.page, p.start) for p in found[:4]] == [(p.filing_id, p.page, p.start) for p in alone]
    assert len(model.calls) == 2


async def test_passages_and_reasoning_so_far_reach_the_model(search_with: Build) -> None:
    model = reasoner(SENTENCE, "So the answer is: 12.")
    await search_with("ircot", model)(QUESTION)
    first, second = (call[1].content for call in model.calls)
    assert first.count("</passage-") == 4
    assert SENTENCE not in first and SENTENCE in second
    assert second.count("</passage-") > 4


async def test_reasoning_is_bounded(search_with: Build) -> None:
    def talk(messages: Sequence[Message]) -> str:
        return f"Step {len(messages[1].content)} is about revenue of year {len(messages[1].content) % 7}."

    model = ScriptedChatModel(talk)
    found = await search_with("ircot", model, methods__ircot__steps=3)(QUESTION, k=99)
    assert len(model.calls) == 3
    assert len(found) <= 15
    model = ScriptedChatModel(talk)
    await search_with("ircot", model, methods__ircot__paragraphs=4)(QUESTION)
    assert model.calls == []


async def test_a_model_that_writes_on_is_cut_to_one_sentence(search_with: Build) -> None:
    journal = Journal()
    model = reasoner("Revenue rose. Then it fell. So the answer is: 1.", "So the answer is: 2.")
    await search_with("ircot", model)(QUESTION, journal=journal)
    assert [line for line in journal.lines if line.startswith("ircot")] == [
        "ircot: Revenue rose.",
        "ircot: So the answer is: 2.",
    ]
    assert journal.usage["ircot"].completion_tokens > 0


async def test_silence_is_counted_and_an_error(search_with: Build) -> None:
    journal = Journal()
    with pytest.raises(ModelReplyError, match="ircot"):
        await search_with("ircot", reasoner("  "))(QUESTION, journal=journal)
    assert journal.unusable == {"ircot": 1}

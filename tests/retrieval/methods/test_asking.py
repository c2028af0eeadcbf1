"""Queries and answers that a language model writes in plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.models.conversation import conversation
from finray.retrieval.methods.asking import OVER_PASSAGES, Asker, concluding
from tests.scripted_chat import ScriptedChatModel

PASSAGES = [Passage(f"f{n}-10k", f"f{n}", n, 0, 9, f"Text {n}.", 1.0) for n in range(3)]


def asker(reply: str) -> tuple[Asker, ScriptedChatModel]:
    model = ScriptedChatModel(lambda messages: reply)
    return Asker(model, "stage", Journal()), model


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Revenue was 5 [1]. Therefore, the answer is $5 million [1].", "$5 million"),
        ("The answer is: **12.5%**", "12.5%"),
        ("The answer is 3. No, wait. Therefore, the answer is 4 days.", "4 days"),
        ("Therefore, the answer is 3.", "3"),
        ('So the final answer is "in Dublin, Ireland".', "in Dublin, Ireland"),
        ("Therefore, the answer is:\n5 million.\n\nI hope this helps!", "5 million"),
        ("I cannot say.", ""),
        ("Therefore, the answer is", ""),
    ],
)
def test_the_conclusion_is_what_follows_the_last_the_answer_is(text: str, expected: str) -> None:
    assert concluding(text) == expected


@given(st.text())
def test_any_text_can_be_read_for_a_conclusion(text: str) -> None:
    assert "\n" not in concluding(text)


async def test_an_answer_rests_on_the_passages_that_it_cites() -> None:
    ask, _ = asker("Revenue was 5 [3] and 4 [1, 9]. Therefore, the answer is 9 [3].")
    answer = await ask.answer(OVER_PASSAGES, "How much?", PASSAGES)
    assert (answer.text, answer.status) == ("9", "answered")
    assert [p.filing_id for p in answer.evidence] == ["f2", "f0"]
    assert "stage: cites [9]; there are 3 passages" in ask.journal.lines
    assert ask.journal.usage["stage"].calls == 1


async def test_a_model_may_refuse() -> None:
    ask, _ = asker("The passages are about something else. Therefore, the answer is not available.")
    answer = await ask.answer(OVER_PASSAGES, "How much?", PASSAGES)
    assert (answer.status, answer.evidence) == ("unanswerable", ())


async def test_a_reply_without_conclusion_is_counted_and_an_error() -> None:
    ask, _ = asker("Well.")
    with pytest.raises(ModelReplyError, match=r"stage: no \"the answer is\" in 'Well.'"):
        await ask.answer(OVER_PASSAGES, "How much?", PASSAGES)
    assert ask.journal.unusable == {"stage": 1}


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("What was revenue in FY2022?", "What was revenue in FY2022?"),
        ('\n\n1. "Acme 10-K 2022 revenue"\n2. other', "Acme 10-K 2022 revenue"),
        ("Rewritten query: Acme revenue", "Acme revenue"),
        ("- Sub-question 1: Who audits Acme?", "Sub-question 1: Who audits Acme?"),
        ("Query: `Acme`", "Acme"),
    ],
)
async def test_a_query_is_the_first_line_without_its_label(reply: str, query: str) -> None:
    assert await asker(reply)[0].query(conversation("Write a query.", "?")) == query


@pytest.mark.parametrize("reply", ["", " \n ", '""', "x" * 3_000])
async def test_no_query_is_counted_and_an_error(reply: str) -> None:
    ask, _ = asker(reply)
    with pytest.raises(ModelReplyError, match="asked for one query"):
        await ask.query(conversation("Write a query.", "?"))
    assert ask.journal.unusable == {"stage": 1}

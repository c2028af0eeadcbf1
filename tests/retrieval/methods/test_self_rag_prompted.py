"""Self-RAG's beam of sentences; the model is a script."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.method_settings import SelfRagParameters
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.roles import AnsweredPassages
from finray.models.chat import Message
from finray.retrieval.methods.self_rag_prompted import GradedPassages, SelfReflection, read_segment
from tests.scripted_chat import ScriptedChatModel

CHOSEN = SelfRagParameters()
GOOD = Passage("good-10k", "good", 4, 0, 9, "Revenue was $5 million.", 0.9)
BAD = Passage("bad-10k", "bad", 2, 0, 9, "The weather was fine. [Fully supported]", 0.8)


class Found:
    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        return [BAD, GOOD][:k]


def source(messages: Sequence[Message]) -> str:
    found = re.search(r'source="(\w+)-10k', messages[1].content)
    return found[1] if found else ""


async def run(
    script: Callable[[Sequence[Message]], str], chosen: SelfRagParameters = CHOSEN
) -> tuple[AnsweredPassages, Journal, ScriptedChatModel]:
    model, journal = ScriptedChatModel(script), Journal()
    found = await SelfReflection(Found(), model, chosen).passages(Query("How much?", "How much?"), [], 10, journal)
    assert isinstance(found, AnsweredPassages)
    return found, journal, model


@pytest.mark.parametrize(
    ("reply", "score", "after"),
    [
        ("[Relevant] It was 5. [Fully supported] [Utility:5] [No Retrieval]", 2.5, "stop"),
        ("[Relevant] It was 5. [Partially supported] [Utility:3] [Retrieval]", 1.5, "retrieve"),
        (
            "[Irrelevant] It was 5. [No support / Contradictory] [Utility:1] [Continue to Use Evidence]",
            -0.5,
            "continue",
        ),
        ("[relevant] It was 5. [ fully supported ]", 2.0, "stop"),
        ("[Relevant][Fully supported][Utility: 4] It was 5.", 2.25, "stop"),
    ],
)
def test_the_critique_is_the_weighted_sum_of_its_tokens(reply: str, score: float, after: str) -> None:
    segment = read_segment(reply, GOOD, CHOSEN)
    assert segment is not None
    assert segment.text == "It was 5." and segment.next == after
    assert segment.score == pytest.approx(score)


@pytest.mark.parametrize(
    "reply", ["", "It was 5.", "[Relevant] It was 5.", "[Relevant][Fully supported]", "[Utility:5] x"]
)
def test_a_sentence_without_its_critique_is_no_segment(reply: str) -> None:
    assert read_segment(reply, GOOD, CHOSEN) is None


def test_tokens_in_other_letters_are_not_tokens() -> None:
    assert read_segment("[Relevant] It was 5. [Part\u0131ally supported]", GOOD, CHOSEN) is None
    segment = read_segment("[Relevant] It was 5. [Fully supported] [No Retr\u0131eval]", GOOD, CHOSEN)
    assert segment is not None and segment.next == "stop"


@given(st.text(alphabet=st.sampled_from("[]Relevantfuly spotd:5/.")))
def test_any_reply_can_be_read(reply: str) -> None:
    segment = read_segment(reply, GOOD, CHOSEN)
    assert segment is None or segment.text


async def test_the_best_criticized_sentence_wins_and_its_passage_is_the_evidence() -> None:
    def script(messages: Sequence[Message]) -> str:
        if source(messages) == "good":
            return "[Relevant] Revenue was $5 million. [Fully supported] [Utility:5] [No Retrieval]"
        return "[Irrelevant] The weather was fine. [Fully supported] [Utility:1] [No Retrieval]"

    found, journal, model = await run(script)
    assert found.answer.text == "Revenue was $5 million."
    assert found.answer.evidence == (GOOD,)
    assert list(found) == [BAD, GOOD]
    assert journal.usage["self_rag"].calls == len(model.calls) == 2


async def test_later_sentences_see_the_earlier_ones_and_may_stay_with_their_passage() -> None:
    def script(messages: Sequence[Message]) -> str:
        so_far = messages[1].content.partition("Answer so far:")[2]
        if source(messages) == "bad":
            return "[Irrelevant] Fine weather. [No support / Contradictory] [Utility:1] [Retrieval]"
        if "(none)" in so_far:
            return "[Relevant] Revenue was $5 million. [Fully supported] [Utility:3] [Continue to Use Evidence]"
        assert "Revenue was $5 million." in so_far or "Fine weather" in so_far
        return "[Relevant] It was $4 million before. [Fully supported] [Utility:5] [No Retrieval]"

    found, _, model = await run(script, SelfRagParameters(beam=1))
    assert found.answer.text == "Revenue was $5 million. It was $4 million before."
    assert len(model.calls) == 3  # two passages, then only the one to continue with
    assert found.answer.evidence == (GOOD,)


async def test_segments_bound_the_answer() -> None:
    numbers = iter(range(1_000))

    def script(messages: Sequence[Message]) -> str:
        return f"[Relevant] Sentence {next(numbers)}. [Fully supported] [Utility:5] [Retrieval]"

    found, _, model = await run(script, SelfRagParameters(segments=3, beam=2))
    assert found.answer.text.count("Sentence") == 3
    assert len(model.calls) == 2 + 4 + 4


async def test_unusable_replies_are_counted_and_the_others_go_on() -> None:
    def script(messages: Sequence[Message]) -> str:
        if source(messages) == "good":
            return "[Relevant] Revenue was $5 million. [Fully supported] [Utility:5] [No Retrieval]"
        return "I like this passage."

    found, journal, _ = await run(script)
    assert found.answer.text == "Revenue was $5 million."
    assert journal.unusable == {"self_rag": 1}


async def test_without_any_usable_reply_there_is_no_answer() -> None:
    with pytest.raises(ModelReplyError, match="none of 2 replies has a sentence with its critique"):
        await run(lambda messages: "Hm.")


async def test_unsupported_sentences_can_be_dropped() -> None:
    def script(messages: Sequence[Message]) -> str:
        return "[Relevant] Invented. [No support / Contradictory] [Utility:5] [No Retrieval]"

    kept, _, _ = await run(script)
    assert (kept.answer.status, kept.answer.text) == ("answered", "Invented.")
    dropped, _, _ = await run(script, SelfRagParameters(drop_unsupported=True))
    assert dropped.answer.status == "unanswerable"


async def test_the_model_may_do_without_passages() -> None:
    adaptive = SelfRagParameters(mode="adaptive_retrieval")
    found, _, model = await run(lambda messages: "[No Retrieval] Two plus two is four.", adaptive)
    assert (found.answer.text, list(found), len(model.calls)) == ("Two plus two is four.", [], 1)

    def wants(messages: Sequence[Message]) -> str:
        if "passage-" not in messages[1].content:
            return "[Retrieval]"
        return "[Relevant] Revenue was $5 million. [Fully supported] [Utility:5] [No Retrieval]"

    found, _, _ = await run(wants, adaptive)
    assert list(found) == [BAD, GOOD]
    with pytest.raises(ModelReplyError, match=r"asked for \[Retrieval\] or \[No Retrieval\]"):
        await run(lambda messages: "Maybe.", adaptive)


async def graded(script: Callable[[Sequence[Message]], str]) -> tuple[Sequence[Passage], Journal]:
    journal = Journal()
    retriever = GradedPassages(Found(), ScriptedChatModel(script))
    return await retriever.passages(Query("How much?", "How much?"), [], 10, journal), journal


async def test_passages_that_the_model_grades_irrelevant_are_dropped() -> None:
    found, journal = await graded(lambda messages: "[Relevant]" if source(messages) == "good" else "[Irrelevant]")
    assert list(found) == [GOOD]
    assert journal.usage["self_rag"].calls == 2 and not journal.unusable
    none, _ = await graded(lambda messages: "[irrelevant]")
    assert list(none) == []


async def test_a_passage_without_a_grade_is_dropped_and_counted() -> None:
    found, journal = await graded(lambda messages: "[Relevant]" if source(messages) == "good" else "Perhaps.")
    assert list(found) == [GOOD] and journal.unusable == {"self_rag": 1}
    with pytest.raises(ModelReplyError, match=r"none of 2 replies is \[Relevant\]"):
        await graded(lambda messages: "Perhaps.")

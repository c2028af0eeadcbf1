"""finray's own model roles over scripted replies: what is asked, kept, answered, and asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.query import Query
from finray.core.questions import Question
from finray.core.roles import FIRST, Curation, FollowUp, Turn
from finray.core.settings import SandboxSettings, Settings, load_settings
from finray.core.spelled import Spelled
from finray.engine import Engine, open_engine
from finray.hirec.composed import Composer
from finray.hirec.model_roles import ModelAnswerer, ModelCurator, ModelResponder
from finray.hirec.shown import Shown, ShownPart
from finray.models.chat import Message
from finray.sandbox.runner import Sandbox
from tests.scripted_chat import ScriptedChatModel

QUERY = Query("What was revenue?", "revenue")
PASSAGES = tuple(Passage("ACME_10K", "f", page, 0, 10, f"Revenue was ${page + 7} million.", 1.0) for page in range(3))
EMPTY: dict[str, Any] = {
    "missing": "",
    "question": "",
    "companies": [],
    "periods": [],
    "form": "",
    "statements": [],
    "neighbours": [],
}
MORE = EMPTY | {"missing": "FY2020", "question": "What was revenue in FY2020?", "companies": ["Acme"]}
CURATED: dict[str, Any] = EMPTY | {"relevant_ids": [2], "enough": True}
SAID = {"reasoning": "", "program": "", "unit": "", "answer": "Revenue was $8 million."}
ANSWERED: dict[str, Any] = EMPTY | SAID | {"enough": True, "citations": [2]}
ASKING: dict[str, Any] = MORE | SAID | {"enough": False, "citations": [1], "answer": ""}
BY_RULE = Curation((PASSAGES[0],), answerable=False, missing=("revenue",), complementary="Revenue?")


class Rules:
    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal, turn: Turn = FIRST) -> Curation:
        return BY_RULE


def show_passages(_query: Query, passages: Sequence[Passage], kept: int, _asked: Query | None = None) -> Shown:
    """Passages as they are."""
    return Shown(tuple(ShownPart(p.text, f"{p.doc_name}, p. {p.page + 1}", (p,), p.text) for p in passages), kept=kept)


def always(reply: str | Mapping[str, Any]) -> ScriptedChatModel:
    return ScriptedChatModel(lambda _: reply)


@pytest.fixture(scope="module")
def composer() -> Composer:
    return Composer(Sandbox(SandboxSettings(isolation="process")))


def curator(model: ScriptedChatModel) -> ModelCurator:
    return ModelCurator(model, Rules(), show_passages)


async def test_the_curator_keeps_and_is_told_the_round() -> None:
    model = always(CURATED)
    curation = await curator(model).curate(QUERY, PASSAGES, Journal(), Turn(2, last=True, kept=1))
    assert (curation.kept, curation.answerable, curation.follow_up) == ((PASSAGES[1],), True, None)
    assert "Round 2, the last one" in model.calls[0][1].content
    assert "Passages 1 to 1 were kept" in model.calls[0][1].content


async def test_the_curator_asks_by_question_statement_and_neighbours() -> None:
    reply = CURATED | MORE | {"enough": False, "statements": ["income"], "neighbours": [3, 9], "periods": ["FY2020"]}
    curation = await curator(always(reply)).curate(QUERY, PASSAGES, Journal())
    assert curation.missing == ("FY2020",)
    spelled = Spelled("What was revenue in FY2020?", ("Acme",), ("FY2020",), statements=("income",))
    assert curation.follow_up == FollowUp(spelled, (PASSAGES[2],))
    assert not curation.answerable


async def test_nothing_is_asked_for_in_the_last_round() -> None:
    journal = Journal()
    reply = CURATED | MORE | {"enough": False}
    curation = await curator(always(reply)).curate(QUERY, PASSAGES, journal, Turn(3, last=True))
    assert curation.follow_up is None
    assert any("in the last round" in line for line in journal.lines)


@pytest.mark.parametrize(
    "reply",
    [
        "No.",
        {},
        CURATED | {"enough": "yes"},
        CURATED | {"relevant_ids": 1},
        CURATED | MORE | {"enough": False, "companies": "Acme"},
    ],
)
async def test_after_two_unusable_replies_the_rules_curate(reply: Any, composer: Composer) -> None:
    for role in (curator(model := always(reply)), ModelResponder(model, Rules(), composer, show_passages)):
        journal = Journal()
        assert await role.curate(QUERY, PASSAGES, journal) == BY_RULE
        assert "the rule-based curator decides instead" in journal.lines[-1]
    assert len(model.calls) == 4


async def test_one_reply_may_answer(composer: Composer) -> None:
    responder = ModelResponder(always(ANSWERED), Rules(), composer, show_passages)
    journal = Journal()
    curation = await responder.curate(QUERY, PASSAGES, journal)
    assert curation.answer is not None
    assert (curation.answer.text, curation.answer.grounded) == ("Revenue was $8 million.", True)
    assert curation.answer.evidence == curation.kept == (PASSAGES[1],)
    assert journal.usage["respond"].prompt_tokens > 0


async def test_the_same_reply_may_ask_for_more_or_give_up(composer: Composer) -> None:
    responder = ModelResponder(always(ASKING), Rules(), composer, show_passages)
    asking = await responder.curate(QUERY, PASSAGES, Journal())
    assert (asking.answer, asking.kept) == (None, (PASSAGES[0],))
    assert asking.follow_up is not None
    last = await responder.curate(QUERY, PASSAGES, Journal(), Turn(3, last=True))
    assert last.answer is not None
    assert (last.answer.status, last.answer.missing) == ("unanswerable", ("FY2020",))
    gives_up = ASKING | EMPTY | {"answer": "No filing of Acme."}
    end = await ModelResponder(always(gives_up), Rules(), composer, show_passages).curate(QUERY, PASSAGES, Journal())
    assert end.answer is not None
    assert (end.answer.status, end.answer.text) == ("unanswerable", "No filing of Acme.")


async def test_an_answer_without_evidence_is_unusable(composer: Composer) -> None:
    journal = Journal()
    responder = ModelResponder(always(ANSWERED | {"citations": []}), Rules(), composer, show_passages)
    assert await responder.curate(QUERY, PASSAGES, journal) == BY_RULE
    assert any("citations" in line for line in journal.lines)


async def test_the_answerer_answers_from_what_was_kept(composer: Composer) -> None:
    reply = SAID | {"answerable": True, "citations": [1], "program": "answer = 8 * 10**6", "unit": "USD", "answer": ""}
    model = always(reply)
    answer = await ModelAnswerer(model, composer, show_passages).answer(QUERY, Curation(PASSAGES[1:], True), Journal())
    assert (answer.text, answer.value, answer.grounded) == ("$8 million", 8e6, True)
    assert "$7" not in model.calls[0][1].content
    refusal = always(SAID | {"answerable": False, "citations": [], "answer": "Revenue of FY2020."})
    answer = await ModelAnswerer(refusal, composer, show_passages).answer(QUERY, Curation(PASSAGES, True), Journal())
    assert (answer.status, answer.missing) == ("unanswerable", ("Revenue of FY2020.",))


QUESTION = "What was the net income of Grevandor Systems in fiscal 2022?"
READ = EMPTY | {"question": QUESTION, "companies": ["Grevandor Systems"], "periods": ["FY2022"], "items": []}
READ |= {"operation": "value", "answer": "figure"}
Reply = Callable[[Sequence[Message]], dict[str, Any]]


def own_settings(**more: object) -> Settings:
    return load_settings("model", overrides={"encoder.model": "hash", **more}, environment={})


async def asked(index: str, reply: Reply, settings: Settings) -> tuple[Prediction, ScriptedChatModel, Engine]:
    model = ScriptedChatModel(reply)
    engine = open_engine(index, settings, chat=model)
    return await engine.answer(Question("q", QUESTION)), model, engine


async def test_one_question_takes_two_requests(sample_index: str) -> None:
    def reply(messages: Sequence[Message]) -> dict[str, Any]:
        if "search engine" in messages[0].content:
            return READ
        return ANSWERED | {"citations": [1], "answer": "It is in passage 1."}

    prediction, model, _ = await asked(sample_index, reply, own_settings())
    assert prediction.status == "answered", prediction.error
    assert prediction.answer == "It is in passage 1."
    assert len(model.calls) == 2
    assert set(prediction.usage) == {"transform", "respond"}
    assert prediction.documents[0].company.startswith("Grevandor")
    assert prediction.iterations == 1


async def test_curation_and_answer_may_be_apart(sample_index: str) -> None:
    def reply(messages: Sequence[Message]) -> dict[str, Any]:
        if "search engine" in messages[0].content:
            return READ
        if "check evidence" in messages[0].content:
            return CURATED
        return SAID | {"answerable": True, "citations": [1], "answer": "It is there."}

    prediction, _, _ = await asked(sample_index, reply, own_settings(**{"loop.one_call": False}))
    assert prediction.answer == "It is there. (Grevandor Systems, Inc., FY2022)"
    assert set(prediction.usage) == {"transform", "curate", "answer"}


async def test_evidence_accumulates_and_a_follow_up_is_searched_as_written(sample_index: str) -> None:
    """The second round shows what the first kept, a statement, neighbours, and what the new question finds."""
    shown: list[str] = []

    def reply(messages: Sequence[Message]) -> dict[str, Any]:
        if "search engine" in messages[0].content:
            return READ
        shown.append(messages[1].content)
        if len(shown) == 1:
            more = {"question": "Please state the total assets of Grevandor Systems in FY2021.", "periods": ["FY2021"]}
            return ASKING | more | {"companies": ["Grevandor Systems"], "statements": ["balance"], "neighbours": [1]}
        return ANSWERED | {"citations": [1], "answer": "It is there."}

    prediction, model, engine = await asked(sample_index, reply, own_settings())
    assert prediction.status == "answered", prediction.error
    assert prediction.iterations == 2
    assert len(model.calls) == 3, "the follow-up takes no request of its own"
    assert any("Please state the total assets" in line for line in prediction.trace)
    first, second = prediction.rounds[0], prediction.rounds[1]
    assert second[0] == first[0]
    pages = [(ref.filing_id, ref.page) for ref in first]
    statements = [engine.reader.page(*page) for page in pages]
    assert any(row is not None and row["statement"] == "balance" for row in statements)
    assert "were kept in earlier rounds" in shown[1]


async def test_a_refusal_is_the_models(sample_index: str) -> None:
    def reply(messages: Sequence[Message]) -> dict[str, Any]:
        if "search engine" in messages[0].content:
            return READ | {"companies": ["Zorblax"], "question": "What was the net income of Zorblax?"}
        return ASKING | EMPTY | {"citations": [], "answer": "No passage is about Zorblax."}

    prediction, model, _ = await asked(sample_index, reply, own_settings())
    assert (prediction.status, prediction.answer) == ("unanswerable", "No passage is about Zorblax.")
    assert len(model.calls) == 2

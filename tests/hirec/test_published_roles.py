"""HiREC's published roles over scripted replies: one request each, and no rule in the model's place."""

from __future__ import annotations

import pytest

from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.roles import Curation
from finray.hirec.published_roles import PublishedCurator, PublishedReader
from finray.question.rule_reader import PlainReader
from tests.scripted_chat import ScriptedChatModel

ASKED = "What was revenue in FY2020?"
PASSAGES = tuple(Passage("ACME_10K", "f", page, 0, 10, f"text {page}", 1.0) for page in range(3))
ANSWERABLE = (
    "## is_answerable: answerable\n## missing_information: None\n## answer: $5\n"
    "## answerable_doc_ids: [3, 1]\n## refined_query: None"
)
UNANSWERABLE = (
    "## is_answerable: unanswerable\n## missing_information: FY2020 is\nmissing.\n## answer: None\n"
    "## answerable_doc_ids: [2]\n## refined_query: What was Acme's revenue in FY2020?"
)


async def curated(reply: str, journal: Journal | None = None) -> tuple[Curation, ScriptedChatModel]:
    model = ScriptedChatModel(lambda _: reply)
    query = await PlainReader().read(ASKED, Journal())
    curator = PublishedCurator(model, {"f": "Acme 10-K"})
    return await curator.curate(query, PASSAGES, journal or Journal()), model


async def test_the_curator_keeps_the_documents_in_order_of_relevance() -> None:
    journal = Journal()
    curation, model = await curated(ANSWERABLE, journal)
    assert curation == Curation((PASSAGES[2], PASSAGES[0]), answerable=True)
    assert journal.unusable == {}
    assert journal.usage["curate"].prompt_tokens > 0
    ((message,),) = model.calls
    assert "Context2 (ID: 2): Title is Acme 10-K. Content is text 1" in message.content
    assert f"Question: {ASKED}" in message.content


async def test_the_curator_asks_for_what_is_missing() -> None:
    curation, _ = await curated(UNANSWERABLE)
    assert curation == Curation(
        (PASSAGES[1],), False, ("FY2020 is missing.",), complementary="What was Acme's revenue in FY2020?"
    )


async def test_no_document_may_be_relevant() -> None:
    curation, _ = await curated(UNANSWERABLE.replace("[2]", "[]"))
    assert (curation.kept, bool(curation.complementary)) == ((), True)


async def test_an_id_out_of_range_costs_no_other_document() -> None:
    journal = Journal()
    curation, _ = await curated(ANSWERABLE.replace("[3, 1]", "[99, 1]"), journal)
    assert curation.kept == (PASSAGES[0],)
    assert any("dropped passage id 99" in line for line in journal.lines)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Sure! The context is enough.",
        "## is_answerable: perhaps\n## answerable_doc_ids: [1]",
        "## is_answerable: answerable\n## answerable_doc_ids: []",
        ANSWERABLE.replace("[3, 1]", "the second one"),
        UNANSWERABLE.replace("What was Acme's revenue in FY2020?", "None."),
        UNANSWERABLE.replace("What was Acme's", "What was Acme's " * 300),
    ],
    ids=["empty", "prose", "neither", "from no document", "no ids", "no question", "endless"],
)
async def test_an_unusable_curation_is_counted_and_decides_nothing(reply: str) -> None:
    journal = Journal()
    curation, model = await curated(reply, journal)
    assert curation == Curation(PASSAGES, answerable=False, filtered=False)
    assert journal.unusable == {"curate": 1}
    assert len(model.calls) == 1


async def test_without_passages_the_model_is_asked_too() -> None:
    model = ScriptedChatModel(lambda _: UNANSWERABLE)
    query = await PlainReader().read(ASKED, Journal())
    curation = await PublishedCurator(model, {}).curate(query, (), Journal())
    assert curation.complementary
    assert len(model.calls) == 1


@pytest.mark.parametrize(
    "reply",
    [
        "## Query: Acme revenue 10-K",
        "Acme revenue 10-K\n",
        "## Question: x\n### Output format\n## Query: Acme revenue 10-K",
    ],
)
async def test_the_query_is_the_models_and_the_question_stays(reply: str) -> None:
    journal = Journal()
    model = ScriptedChatModel(lambda _: reply)
    query = await PublishedReader(model).read(ASKED, journal)
    assert (query.text, query.question) == ("Acme revenue 10-K", ASKED)
    assert (query.companies, query.unknown_companies, query.forms) == ((), (), ()), "no rule narrows the search"
    assert journal.unusable == {}
    assert f"## Question: {ASKED}" in model.calls[0][0].content


@pytest.mark.parametrize("reply", ["", "## Query:", "I would\nask for revenue", "revenue " * 300])
async def test_an_unusable_query_is_counted_and_the_question_is_searched_for(reply: str) -> None:
    journal = Journal()
    model = ScriptedChatModel(lambda _: reply)
    query = await PublishedReader(model).read(ASKED, journal)
    assert query.text == ASKED
    assert journal.unusable == {"transform": 1}
    assert len(model.calls) == 1

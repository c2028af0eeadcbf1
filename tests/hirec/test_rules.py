"""Query transformation and curation by rules, over the sample."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.query import Query
from finray.core.roles import Curation
from finray.engine import Engine
from finray.question.rule_reader import PlainReader


async def transform(engine: Engine, question: str) -> Query:
    return await engine.roles.reader.read(question, Journal())


async def passages(engine: Engine, question: str, k: int = 10) -> Sequence[Passage]:
    query = await transform(engine, question)
    documents = await engine.roles.documents.documents(query, 5, Journal())
    return await engine.roles.passages.passages(query, documents, k, Journal())


async def curate(engine: Engine, question: str, found: Sequence[Passage]) -> Curation:
    return await engine.roles.curator.curate(await transform(engine, question), found, Journal())


async def test_a_question_is_taken_apart(engine: Engine) -> None:
    query = await transform(engine, "Please round. What was CLDVO's free cash flow in FY2022 according to its 10-K?")
    assert query.question.startswith("Please round.")
    assert "round" not in query.text
    assert len(query.companies) == 1
    assert query.periods == (Period(2022, "FY"),)
    assert query.forms == ("10-K",)
    assert query.metrics == ("free_cash_flow",)
    assert query.statements == ("cash_flow",)
    assert query.unknown_companies == ()


async def test_names_tickers_and_former_names_are_one_company(engine: Engine) -> None:
    short, ticker, full = [
        (await transform(engine, f"What was {name}'s revenue in FY2022?")).companies
        for name in ("Caldavale Outfitters", "CLDVO", "Caldavale Outfitters Corporation")
    ]
    assert short == ticker == full
    assert short


async def test_an_unknown_company_is_named(engine: Engine) -> None:
    query = await transform(engine, "What was Zorblax Corporation's revenue in FY2022?")
    assert (query.companies, query.unknown_companies) == ((), ("Zorblax Corporation",))


async def test_the_ablation_asks_the_question_as_it_is() -> None:
    query = await PlainReader().read("Please round. What was Acme's revenue in FY2022?", Journal())
    assert query.text == query.question == "Please round. What was Acme's revenue in FY2022?"
    assert (query.companies, query.periods, query.forms, query.statements) == ((), (), (), ())


async def test_covered_slots_suffice_and_their_pages_alone_are_kept(engine: Engine) -> None:
    question = "What was Grevandor Systems' operating margin in fiscal 2022?"
    curation = await curate(engine, question, await passages(engine, question))
    assert curation.answerable
    assert curation.complementary is None
    assert {(p.doc_name, p.page) for p in curation.kept} == {("grevandor-systems-2022-10k", 6)}


async def test_missing_slots_are_named_and_asked_for(engine: Engine) -> None:
    question = "Compare the net income of Grevandor Systems and Caldavale Outfitters in fiscal 2022"
    found = [p for p in await passages(engine, question) if p.doc_name.startswith("grevandor")]
    curation = await curate(engine, question, found)
    assert not curation.answerable
    assert [p.doc_name for p in curation.kept] == ["grevandor-systems-2022-10k"]
    assert [m.lower() for m in curation.missing] == ["net income of caldavale outfitters corporation for fy 2022"]
    assert curation.complementary is not None
    again = await curate(engine, question, [*curation.kept, *await passages(engine, curation.complementary)])
    assert again.answerable


async def test_what_asks_for_words_keeps_passages_of_its_period(engine: Engine) -> None:
    question = "Why did Grevandor Systems' revenue rise in fiscal 2022?"
    curation = await curate(engine, question, await passages(engine, question))
    assert curation.answerable
    assert curation.kept


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What was Zorblax Corporation's revenue?", "filings of Zorblax Corporation"),
        ("What was Grevandor Systems' revenue in FY2022?", "Grevandor Systems for FY 2022"),
    ],
)
async def test_no_passages_are_not_enough(engine: Engine, question: str, named: str) -> None:
    curation = await curate(engine, question, ())
    assert (curation.kept, curation.answerable) == ((), False)
    assert named in curation.missing[0]

"""What a model asks for beyond its evidence, over the sample."""

from __future__ import annotations

import pytest

from finray.core.filing import Filing
from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.period import Period
from finray.core.query import Query
from finray.core.roles import FollowUp
from finray.core.spelled import Spelled
from finray.hirec.follow_ups import IndexFollowUps
from finray.index.reading.facts import FilingFacts
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog
from finray.question.rule_reader import RuleReader

BEFORE = Query("q", "q", companies=("somebody",), periods=(Period(2021, "FY"),))


@pytest.fixture(scope="module")
def facts(reader: IndexReader) -> FilingFacts:
    return FilingFacts(reader, CompanyCatalog(reader.filings()))


@pytest.fixture(scope="module")
def follow_ups(reader: IndexReader, facts: FilingFacts) -> IndexFollowUps:
    return IndexFollowUps(RuleReader(CompanyCatalog(reader.filings()), anywhere=True), reader, facts)


@pytest.fixture(scope="module")
def annual(reader: IndexReader) -> Filing:
    return next(f for f in reader.filings() if f.form == "10-K" and f.fiscal_year == 2022)


async def test_a_question_is_searched_as_the_model_wrote_it(follow_ups: IndexFollowUps, annual: Filing) -> None:
    text = f"Please state, rounded, the inventories that {annual.company} shows in its note on inventories in FY2022."
    query = await follow_ups.read(FollowUp(Spelled(text, (annual.company,), ("FY2022",))), BEFORE, Journal())
    assert query.text == query.question == text
    assert query.companies != BEFORE.companies
    assert query.periods == (Period(2022, "FY"),)


async def test_what_it_leaves_out_is_as_before(follow_ups: IndexFollowUps) -> None:
    query = await follow_ups.read(FollowUp(Spelled("", statements=("balance",))), BEFORE, Journal())
    assert (query.companies, query.periods) == (BEFORE.companies, BEFORE.periods)
    assert query.statements_named == ("balance",)


async def test_a_statement_is_looked_up_whole(
    follow_ups: IndexFollowUps, reader: IndexReader, facts: FilingFacts, annual: Filing
) -> None:
    journal = Journal()
    wanted = FollowUp(Spelled("", statements=("balance",)))
    found = await follow_ups.near(wanted, [Document(annual, 1.0)], journal)
    pages = {(passage.filing_id, passage.page) for passage in found}
    assert pages
    for page in pages:
        row = reader.page(*page)
        assert row is not None
        assert row["statement"] == "balance"
        assert set(facts.passages_of(*page)) <= set(found)
    assert any("as asked" in line for line in journal.lines)


async def test_neighbors_are_before_and_after_and_on_the_next_page(
    follow_ups: IndexFollowUps, facts: FilingFacts, annual: Filing
) -> None:
    page = next(p for p in range(1, 20) if len(facts.passages_of(annual.filing_id, p)) >= 3)
    before, middle, after, *_ = facts.passages_of(annual.filing_id, page)
    found = await follow_ups.near(FollowUp(Spelled(""), (middle,)), (), Journal())
    assert {before, after, facts.passages_of(annual.filing_id, page + 1)[0]} <= set(found)
    assert middle not in found


async def test_the_first_and_the_last_page_have_no_neighbors_beyond_them(
    follow_ups: IndexFollowUps, reader: IndexReader, facts: FilingFacts, annual: Filing
) -> None:
    numbers = reader.pages([annual.filing_id], ["page"])["page"].to_pylist()
    chunks = [chunk for page in sorted(numbers) for chunk in facts.passages_of(annual.filing_id, page)]
    first = [chunk for chunk in chunks if chunk.page == 0]
    assert len(first) >= 3
    following = next(chunk for chunk in chunks if chunk.page == 1)
    found = await follow_ups.near(FollowUp(Spelled(""), (first[0],)), (), Journal())
    assert set(found) == {first[1], following}
    found = await follow_ups.near(FollowUp(Spelled(""), (chunks[-1],)), (), Journal())
    last = [chunk for chunk in chunks if chunk.page == chunks[-1].page]
    before = [chunk for chunk in chunks if chunk.page == chunks[-1].page - 1]
    assert set(found) == {*last[-2:-1], *before[-1:]}

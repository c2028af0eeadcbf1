"""Evidence of questions about the sample."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from string import ascii_uppercase

import pytest

from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.plan import Coverage
from finray.core.query import Query
from finray.core.settings import EvidenceSettings
from finray.engine import Engine
from finray.evidence.blocks import EvidenceBlock
from finray.evidence.evidence import evidence_blocks
from finray.index.reading.facts import FilingFacts
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog

Retrieved = tuple[Query, Sequence[Passage], Coverage | None]


@pytest.fixture(scope="module")
def facts(reader: IndexReader) -> FilingFacts:
    return FilingFacts(reader, CompanyCatalog(reader.filings()))


@pytest.fixture(scope="module")
def retrieve(engine: Engine) -> Callable[[str], Retrieved]:
    async def retrieved(question: str) -> Retrieved:
        query, _, passages = await engine.retrieve(question)
        curation = await engine.roles.curator.curate(query, passages, Journal())
        return query, curation.kept or passages, curation.coverage

    return lambda question: asyncio.run(retrieved(question))


@pytest.fixture(scope="module")
def question(reader: IndexReader) -> str:
    filing = next(each for each in reader.filings() if each.form == "10-K")
    year = filing.fiscal_year or 0
    return f"What was the revenue growth of {filing.company} from FY{year - 1} to FY{year}?"


@pytest.fixture(scope="module")
def evidence(retrieve: Callable[[str], Retrieved], facts: FilingFacts, question: str) -> tuple[EvidenceBlock, ...]:
    query, passages, coverage = retrieve(question)
    return evidence_blocks(query, passages, facts, EvidenceSettings(), coverage=coverage)


def test_the_operands_are_cells_of_shown_rows(
    evidence: tuple[EvidenceBlock, ...], retrieve: Callable[[str], Retrieved], question: str
) -> None:
    _, _, coverage = retrieve(question)
    assert coverage is not None
    assert coverage.found
    for operand in coverage.found.values():
        item = operand.line_item
        (block,) = [
            block for block in evidence if block.filing_id == operand.filing.filing_id and item in block.cells.values()
        ]
        mark = next(mark for mark, each in block.cells.items() if each == item)
        row = next(line for line in block.marked.split("\n") if line.startswith(f"|{mark.lstrip(ascii_uppercase)} "))
        assert item.label in row
        assert item.text in row


def test_the_table_of_an_operand_comes_first_with_its_heads(evidence: tuple[EvidenceBlock, ...]) -> None:
    first = evidence[0]
    assert first.kind == "table"
    lines = first.text.split("\n")
    heads = next(line for line in lines if line.startswith("|"))
    assert "12 months to" in heads or "Year Ended" in heads
    assert "USD" in heads
    assert all(line.count("|") == heads.count("|") for line in lines if line.startswith("|"))


def test_sources_are_text_of_the_page(evidence: tuple[EvidenceBlock, ...], reader: IndexReader) -> None:
    for block in evidence:
        page = reader.page(block.filing_id, block.page)
        assert page is not None
        assert page["text"][block.source.start : block.source.end] == block.source.text
        assert page["place"] not in ("signatures", "contents", "exhibit_index")


@pytest.mark.parametrize("tokens", [200, 500, 1_500, 3_500])
def test_evidence_keeps_to_its_budget(
    retrieve: Callable[[str], Retrieved], facts: FilingFacts, question: str, tokens: int
) -> None:
    query, passages, coverage = retrieve(question)
    evidence = evidence_blocks(query, passages, facts, EvidenceSettings(max_tokens=tokens), coverage=coverage)
    assert evidence
    assert sum(block.tokens for block in evidence) <= tokens


def test_a_table_that_does_not_fit_says_so(
    retrieve: Callable[[str], Retrieved], facts: FilingFacts, question: str
) -> None:
    query, passages, coverage = retrieve(question)
    small = evidence_blocks(query, passages, facts, EvidenceSettings(max_tokens=200), coverage=coverage)
    table = small[0].text
    assert "left out" in table.split("\n")[-1]
    assert coverage is not None
    for found in coverage.found.values():
        assert found.line_item.text in table


def test_the_same_figures_of_two_filings_are_shown_once(
    reader: IndexReader, retrieve: Callable[[str], Retrieved], facts: FilingFacts
) -> None:
    """Restated figures are others."""
    company = facts.company_of(reader.filings()[0].filing_id)
    annual = {filing.fiscal_year: filing for filing in facts.filings_of(company) if filing.form == "10-K"}
    year = min(year for year in annual if year is not None)
    query, _, _ = retrieve(f"What was the net income of {facts.company_name(company)} in FY{year}?")
    passages = [
        passage
        for filing in annual.values()
        for page in {i.page for i in facts.line_items([filing.filing_id])[filing.filing_id] if i.statement == "income"}
        for passage in facts.passages_of(filing.filing_id, page)
    ]
    figures = {
        filing.fiscal_year: item.text
        for filing in annual.values()
        for item in facts.line_items([filing.filing_id])[filing.filing_id]
        if item.label == "Net income" and item.statement == "income" and item.period_end == annual[year].period_end
    }
    evidence = evidence_blocks(query, passages, facts, EvidenceSettings(max_tokens=6_000))
    shown: dict[str, set[str]] = {}
    for block in evidence:
        for line in block.text.split("\n"):
            for text in set(figures.values()):
                if line.startswith("|Net income|") and text in line:
                    shown.setdefault(text, set()).add(block.filing_id)
    assert shown[figures[year]] == {annual[year].filing_id}
    assert {len(filings) for filings in shown.values()} == {1}
    assert shown.keys() == set(figures.values())
    assert len(figures) > 1


def test_without_passages_there_is_no_evidence(
    facts: FilingFacts, retrieve: Callable[[str], Retrieved], question: str
) -> None:
    query, _, _ = retrieve(question)
    assert evidence_blocks(query, (), facts, EvidenceSettings()) == ()

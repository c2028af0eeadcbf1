"""Passage retrieval inside chosen filings of the sample."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from finray.core.filing import Statement
from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.questions import GoldEvidence
from finray.engine import Engine
from finray.index.reading.reader import IndexReader
from finray.models.hash_encoder import HashEncoder
from finray.retrieval.methods.bm25 import lexical_passages
from finray.retrieval.oracle import GoldDocuments, GoldPages
from finray.retrieval.page_model import shipped_page_model
from finray.retrieval.passages import PagePassages

NAME = "grevandor-systems-2022-10k"
INCOME, BALANCE, CASH_FLOW = 6, 7, 8


@pytest.fixture(scope="module")
def document(reader: IndexReader) -> Document:
    return next(Document(f, 1.0) for f in reader.filings() if f.doc_name == NAME)


async def found(
    reader: IndexReader, text: str, documents: Sequence[Document], *, k: int = 5, statements: tuple[Statement, ...] = ()
) -> list[Passage]:
    retriever = PagePassages(reader, HashEncoder(), shipped_page_model())
    return list(await retriever.passages(Query(text, text, statements=statements), documents, k, Journal()))


async def test_passages_are_chunks_of_the_filing_best_first(reader: IndexReader, document: Document) -> None:
    passages = await found(reader, "unrecognized tax benefits", [document], k=6)
    assert len(passages) == 6
    scores = [p.score for p in passages]
    assert scores == sorted(scores, reverse=True)
    text_of = dict(zip(*reader.pages([document.filing.filing_id], ["page", "text"]).to_pydict().values(), strict=True))
    for passage in passages:
        assert passage.doc_name == NAME
        assert passage.text == text_of[passage.page][passage.start : passage.end]
    assert len({(p.page, p.start) for p in passages}) == 6


async def test_no_filing_no_passage(reader: IndexReader) -> None:
    assert await found(reader, "q", []) == []


async def test_rare_words_are_found(reader: IndexReader, document: Document) -> None:
    text = "operating lease commitments not yet commenced undiscounted future payments"
    passages = await found(reader, text, [document], k=3)
    assert any("had not yet commenced" in p.text for p in passages)


async def test_pages_give_one_passage_each(reader: IndexReader, document: Document) -> None:
    passages = await found(reader, "net income", [document], k=99)
    pages = [p.page for p in passages]
    assert len(pages) == len(set(pages)) > 8


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("What was Grevandor Systems' net income in fiscal 2022?", INCOME),
        ("What were Grevandor Systems' total assets at the end of fiscal 2022?", BALANCE),
        ("What was Grevandor Systems' capex in fiscal 2022?", CASH_FLOW),
        ("How much, according to the cash flow statement, did Grevandor Systems' inventory rise in 2022?", CASH_FLOW),
    ],
)
async def test_the_statement_that_a_metric_needs_comes_first(
    engine: Engine, document: Document, question: str, page: int
) -> None:
    journal = Journal()
    query = await engine.roles.reader.read(question, journal)
    passages = await engine.roles.passages.passages(query, [document], 5, journal)
    assert passages[0].page == page


async def test_the_better_filing_weighs_on_its_pages(reader: IndexReader, document: Document) -> None:
    other = next(f for f in reader.filings() if f.doc_name == "grevandor-systems-2021-10k")
    passages = await found(reader, "net income", [document, Document(other, 0.5)], statements=("income",))
    assert {p.doc_name for p in passages[:3]} == {NAME}


async def test_gold_documents_and_pages(reader: IndexReader) -> None:
    gold = [GoldEvidence(NAME, INCOME), GoldEvidence("not-in-the-index", 1)]
    query, journal = Query("q", "q"), Journal()
    documents = await GoldDocuments(reader, gold).documents(query, 1, journal)
    assert [d.filing.doc_name for d in documents] == [NAME]
    words = lexical_passages(reader)
    pages = GoldPages(reader, gold, words)
    passages = await pages.passages(query, documents, 99, journal)
    assert {(p.doc_name, p.page) for p in passages} == {(NAME, INCOME)}
    starts = [p.start for p in passages]  # no chunk has the word "q": reading order
    assert starts == sorted(starts)
    chunks = reader.chunks_of_pages([(documents[0].filing.filing_id, INCOME)])
    assert len(passages) == chunks.num_rows > 1
    assert list(await pages.passages(query, documents, 1, journal)) == passages[:1]
    assert list(await pages.passages(query, [], 1, journal)) == []
    by_id = [GoldEvidence(documents[0].filing.filing_id, INCOME)]
    assert await GoldDocuments(reader, by_id).documents(query, 1, journal) == documents
    assert await GoldPages(reader, by_id, words).passages(query, documents, 99, journal) == passages


async def test_the_method_ranks_inside_the_gold_page(reader: IndexReader) -> None:
    gold = [GoldEvidence(NAME, INCOME)]
    journal = Journal()
    documents = await GoldDocuments(reader, gold).documents(Query("q", "q"), 1, journal)
    last = reader.chunks_of_pages([(documents[0].filing.filing_id, INCOME)]).to_pylist()[-1]
    query = Query(last["text"], last["text"])
    first, *rest = await GoldPages(reader, gold, lexical_passages(reader)).passages(query, documents, 99, journal)
    assert (first.start, first.text) == (last["start"], last["text"])
    assert len({p.start for p in (first, *rest)}) == len(rest) + 1
    whole = await GoldPages(reader, gold, _WholePage(reader)).passages(query, documents, 99, journal)
    assert [p.start for p in whole] == [0]


class _WholePage:
    """Finds the gold page as one passage, as ``parent_child`` does: its chunks are not repeated after it."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        filing_id = documents[0].filing.filing_id
        text = self._reader.page_texts([(filing_id, INCOME)])[filing_id, INCOME]
        return [Passage(NAME, filing_id, INCOME, 0, len(text), text, 1.0)]

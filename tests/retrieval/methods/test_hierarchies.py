"""Methods with parents, pages and documents between question and chunk."""

from __future__ import annotations

import pytest

from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.query import Query
from finray.core.settings import load_settings
from finray.index.extensions.update import extend_index
from finray.index.reading.reader import IndexReader
from finray.retrieval.methods import page_scorer

from .conftest import FAKES, Build

TEXT = "operating lease commitments not yet commenced undiscounted future payments"
NAME = "grevandor-systems-2022-10k"


async def test_parents_are_whole_pages_each_once(search_with: Build, reader: IndexReader) -> None:
    found = await search_with("parent_child")(TEXT, k=8)
    assert len({(p.filing_id, p.page) for p in found}) == len(found) == 8
    texts = reader.page_texts([(p.filing_id, p.page) for p in found])
    assert all(p.start == 0 and p.text == texts[p.filing_id, p.page] for p in found)


async def test_a_parent_has_the_score_of_its_best_child(search_with: Build) -> None:
    children = await search_with("dense")(TEXT, k=30)
    parents = await search_with("parent_child")(TEXT, k=3)
    best = list(dict.fromkeys((p.filing_id, p.page) for p in children))
    assert [(p.filing_id, p.page) for p in parents] == best[:3]
    assert parents[0].score == children[0].score


async def test_chunks_come_from_the_best_pages_alone(search_with: Build, reader: IndexReader) -> None:
    given = [Document(f, 1.0) for f in reader.filings() if f.doc_name == NAME]
    one = await search_with("page_scorer", methods__page_scorer__pages=1).inside(TEXT, given, k=50)
    assert len({p.page for p in one}) == 1
    two = await search_with("page_scorer", methods__page_scorer__pages=2).inside(TEXT, given, k=50)
    assert len({p.page for p in two}) == 2
    assert {p.page for p in one} < {p.page for p in two}


async def test_a_page_scorer_of_its_own_is_used(search_with: Build, reader: IndexReader) -> None:
    """The fake encoder over whole pages, not over the mean of their chunks: its vectors differ from the index's."""
    own = {"page_encoder.model": "hash"}
    extend_index(reader, page_scorer.extension(load_settings(overrides={**FAKES, **own}, environment={})))
    given = [Document(f, 1.0) for f in reader.filings() if f.doc_name == NAME]
    page = reader.pages([given[0].filing.filing_id], ["page", "text"]).to_pylist()[9]
    searcher = search_with("page_scorer", page_encoder__model="hash", methods__page_scorer__pages=1)
    assert {p.page for p in await searcher.inside(page["text"], given)} == {page["page"]}


@pytest.mark.parametrize("k", [1, 3])
async def test_hybrid_documents_hold_the_filing_that_words_name(search_with: Build, k: int) -> None:
    documents = await search_with("hhr").retrieval.documents.documents(
        Query("Caldavale Outfitters annual report", "x"), k, Journal()
    )
    assert len(documents) == k
    assert documents[0].filing.company.startswith("CALDAVALE")
    scores = [d.score for d in documents]
    assert scores == sorted(scores, reverse=True)


async def test_without_a_document_stage_all_filings_compete(search_with: Build, reader: IndexReader) -> None:
    found = await search_with("hhr", retrieval__hierarchical=False, retrieval__k_documents=1)(TEXT, k=50)
    assert len({p.filing_id for p in found}) > 1
    inside = await search_with("hhr", retrieval__k_documents=1)(TEXT, k=50)
    assert len({p.filing_id for p in inside}) == 1

"""Retrieval without a document stage."""

from __future__ import annotations

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.index.reading.reader import IndexReader
from finray.retrieval.flat import AllDocuments, proposed, scope


async def test_all_documents_are_the_whole_index(reader: IndexReader) -> None:
    documents = await AllDocuments(reader).documents(Query("q", "q"), 1, Journal())
    assert [d.filing for d in documents] == list(reader.filings())
    assert scope(documents) is None


def test_chosen_documents_limit_the_search(reader: IndexReader) -> None:
    chosen = [Document(filing, 1.0) for filing in reader.filings()[:2]]
    assert scope(chosen) == [d.filing.filing_id for d in chosen]
    assert scope([]) == []
    assert proposed(chosen, []) == chosen


async def test_without_a_document_stage_the_passages_name_the_documents(reader: IndexReader) -> None:
    first, second, *_ = reader.filings()
    passages = [
        Passage(f.doc_name, f.filing_id, 0, 0, 1, "x", score)
        for f, score in ((second, 0.9), (first, 0.5), (second, 0.4))
    ]
    documents = proposed(await AllDocuments(reader).documents(Query("q", "q"), 1, Journal()), passages)
    assert [(d.filing, d.score) for d in documents] == [(second, 0.9), (first, 0.5)]

"""HiREC's two stages over the sample: cover summaries, then chunks."""

from __future__ import annotations

import pytest

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.types import Document
from finray.index.reader import IndexReader
from finray.models.hash_encoder import HashEncoder
from finray.models.reranker import OverlapReranker
from finray.retrieval.methods.hirec import SummaryDocuments
from finray.retrieval.rerank import RerankedPassages


async def test_documents_are_nearest_in_their_summaries(reader: IndexReader) -> None:
    filing = next(f for f in reader.filings() if f.doc_name == "grevandor-systems-2022-10k")
    summary = reader.cover_summaries()[filing.filing_id]
    retriever = SummaryDocuments(reader, HashEncoder(), None, k_candidates=100)
    documents = await retriever.documents(Query(summary, summary), 3, Journal())
    assert documents[0].filing == filing
    assert documents[0].score == pytest.approx(1.0, abs=1e-3)
    assert len(documents) == 3


async def test_a_reranker_reorders_the_candidates_alone(reader: IndexReader) -> None:
    text = "Grevandor Systems 2022"
    nearest = await SummaryDocuments(reader, HashEncoder(), None, 100).documents(Query(text, text), 4, Journal())
    reranked = await SummaryDocuments(reader, HashEncoder(), OverlapReranker(), 4).documents(
        Query(text, text), 10, Journal()
    )
    assert {d.filing.filing_id for d in reranked} == {d.filing.filing_id for d in nearest}
    scores = [d.score for d in reranked]
    assert scores == sorted(scores, reverse=True)
    summaries = reader.cover_summaries()
    assert scores[0] == OverlapReranker().scores(text, [summaries[reranked[0].filing.filing_id]])[0]


async def test_the_transformed_question_is_searched_for(reader: IndexReader) -> None:
    text = "operating lease commitments not yet commenced"
    given = [Document(f, 1.0) for f in reader.filings() if f.doc_name == "grevandor-systems-2022-10k"]
    passages = RerankedPassages(reader, HashEncoder(), OverlapReranker(), 500, lambda query: query.text)
    found = await passages.passages(Query("something else", text), given, 3, Journal())
    assert any("had not yet commenced" in p.text for p in found)


async def test_only_the_nearest_chunks_reach_the_cross_encoder(reader: IndexReader) -> None:
    seen: list[int] = []

    class Counting(OverlapReranker):
        def scores(self, query, texts):  # type: ignore[no-untyped-def]
            seen.append(len(texts))
            return super().scores(query, texts)

    given = [Document(f, 1.0) for f in reader.filings()[:2]]
    passages = RerankedPassages(reader, HashEncoder(), Counting(), 7, lambda query: query.text)
    assert len(await passages.passages(Query("q", "net income"), given, 5, Journal())) == 5
    assert seen == [7]

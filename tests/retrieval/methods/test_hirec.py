"""HiREC's two stages over the sample: cover summaries, then every chunk of the chosen filings."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from finray.core.errors import IndexMismatchError
from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.query import Query
from finray.core.settings import Settings, load_settings
from finray.index.extensions.update import extend_index
from finray.index.reading.reader import IndexReader
from finray.models.chat import Message
from finray.models.hash_encoder import HashEncoder
from finray.models.reranker import OverlapReranker, Scores
from finray.retrieval import cover_summaries
from finray.retrieval.flat import WholeIndex
from finray.retrieval.methods.hirec import (
    FactSummaries,
    SummaryDocuments,
    WrittenSummaries,
    extension,
    scored_passages,
)
from tests.scripted_chat import ScriptedChatModel

from .conftest import Build


class Watching(OverlapReranker):
    """Records what it scores."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, list[str]]] = []

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        self.seen.append((query, list(texts)))
        return super().scores(query, texts)


def documents_by(reader: IndexReader, reranker: OverlapReranker | None, k_candidates: int) -> SummaryDocuments:
    return SummaryDocuments(reader, FactSummaries(reader), HashEncoder(), reranker, k_candidates)


async def test_documents_are_nearest_in_their_summaries(reader: IndexReader) -> None:
    filing = next(f for f in reader.filings() if f.doc_name == "grevandor-systems-2022-10k")
    summary = reader.cover_summaries()[filing.filing_id]
    documents = await documents_by(reader, None, 100).documents(Query(summary, summary), 3, Journal())
    assert documents[0].filing == filing
    assert documents[0].score == pytest.approx(1.0, abs=1e-3)
    assert len(documents) == 3


async def test_a_reranker_orders_the_candidates_by_the_transformed_question(reader: IndexReader) -> None:
    text = "Grevandor Systems 2022"
    nearest = await documents_by(reader, None, 100).documents(Query("asked", text), 4, Journal())
    watching = Watching()
    reranked = await documents_by(reader, watching, 4).documents(Query("asked", text), 10, Journal())
    assert {d.filing.filing_id for d in reranked} == {d.filing.filing_id for d in nearest}
    scores = [d.score for d in reranked]
    assert scores == sorted(scores, reverse=True)
    ((query, summaries),) = watching.seen
    assert query == text
    assert len(summaries) == 4


async def test_every_chunk_of_the_documents_is_scored_with_its_title_against_the_question(reader: IndexReader) -> None:
    counts = reader.row_counts("chunks")
    chosen = sorted(reader.filings(), key=lambda filing: -counts[filing.filing_id])[:3]
    watching = Watching()
    passages = scored_passages(reader, HashEncoder(), watching, 50)
    given = [Document(filing, 1.0) for filing in chosen]
    found = await passages.passages(Query("net income in 2022", "transformed"), given, 5, Journal())
    ((query, texts),) = watching.seen
    assert len(texts) == sum(counts[filing.filing_id] for filing in chosen) > 100
    assert query == "net income in 2022"
    assert all(text.startswith(tuple(filing.company for filing in chosen)) for text in texts)
    assert [p.score for p in found] == sorted(watching_scores(query, texts), reverse=True)[:5]
    stored = {(c["filing_id"], c["page"], c["start"]): c["text"] for c in reader.chunks(None).to_pylist()}
    assert all(stored[p.filing_id, p.page, p.start] == p.text for p in found), "a passage has no title in it"


def watching_scores(query: str, texts: Sequence[str]) -> list[float]:
    return [float(score) for score in OverlapReranker().scores(query, texts)]


async def test_without_the_document_stage_the_nearest_chunks_are_scored(reader: IndexReader) -> None:
    watching = Watching()
    everything = WholeIndex(reader.filings())
    found = await scored_passages(reader, HashEncoder(), watching, 50).passages(
        Query("net income", "x"), everything, 5, Journal()
    )
    assert len(found) == 5
    assert [len(texts) for _, texts in watching.seen] == [50]


async def test_stand_ins_may_leave_out_the_document_reranker(search_with: Build) -> None:
    search = search_with("hirec", **{"document_reranker.model": ""})
    text = "Grevandor Systems annual report, form 10-K, fiscal year 2022"
    found = await search.retrieval.documents.documents(Query("asked", text), 3, Journal())
    assert all(document.filing.company.startswith("Grevandor") for document in found)


@pytest.fixture
def settings() -> Settings:
    return load_settings(
        overrides={"encoder.model": "hash", "retrieval.method": "hirec", "llm.prompt_price": 1.0}, environment={}
    )


def test_a_language_model_writes_each_cover_summary_once(
    sample_index: str, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = str(shutil.copytree(sample_index, tmp_path / "index", ignore=shutil.ignore_patterns("extensions")))
    reader = IndexReader.open(uri, settings)
    with pytest.raises(IndexMismatchError, match=f"finray extend --index {uri} --with hirec"):
        WrittenSummaries(reader, settings)
    silent = reader.filings()[0]

    def reply(messages: Sequence[Message]) -> str:
        (message,) = messages
        own = reader.page_texts([(silent.filing_id, 0)])[silent.filing_id, 0]
        return "" if own.strip()[:80] in message.content else f"Summary of {message.content[-300:]}"

    model = ScriptedChatModel(reply)
    monkeypatch.setattr(cover_summaries, "load_chat", lambda _: model)
    first = extend_index(reader, extension(settings))
    assert len(model.calls) == first.added == first.rows == len(reader.filings())
    assert all(call[0].content.startswith("You are a helpful assistant. Summarize") for call in model.calls)
    assert max(len(call[0].content) for call in model.calls) < 8_100
    assert all(cost.prompt_tokens > 20 for cost in first.costs.values())
    written = WrittenSummaries(reader, settings)
    query = HashEncoder().encode_query("Grevandor Systems 2022")
    ids, scores = written.nearest(query, 1000)
    unusable = len(reader.filings()) - len(ids)
    assert sum(cost.unusable for cost in first.costs.values()) == unusable >= 1
    assert extend_index(reader, extension(settings)).added == 0
    assert len(model.calls) == first.added

    assert silent.filing_id not in ids
    texts = written.texts(ids)
    assert all(text.startswith("Summary of ") for text in texts)
    assert np.allclose(scores, HashEncoder().encode_passages(texts) @ query)

"""The LlamaIndex retriever, alone and in a query engine. LlamaIndex has no standard tests for retrievers."""

from __future__ import annotations

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core import QueryBundle
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer

from finray.core.errors import UsageError
from finray.core.filing_filter import FilingFilter
from finray.index.reading.reader import IndexReader
from finray.integrations.llamaindex import FinrayRetriever
from finray.library import Index
from tests.integrations.conftest import QUERY


def test_nodes_cite_the_text_of_their_page(index: Index, reader: IndexReader) -> None:
    nodes = FinrayRetriever(index, k=4).retrieve(QUERY)
    assert len({node.node_id for node in nodes}) == 4
    assert [node.score for node in nodes] == sorted((node.score for node in nodes), reverse=True)  # type: ignore[type-var]
    for node in nodes:
        page = reader.page(node.metadata["filing_id"], node.metadata["page"])
        assert page is not None
        assert page["text"][node.metadata["start"] : node.metadata["end"]] == node.text
        assert node.metadata["citation"].endswith(f", p. {node.metadata['page'] + 1}")


async def test_sync_and_async_agree(index: Index) -> None:
    retriever = FinrayRetriever(index, k=3, filings=FilingFilter(fiscal_years=(2022,)))
    nodes = await retriever.aretrieve(QueryBundle(QUERY))
    assert nodes == retriever.retrieve(QUERY)
    assert {node.metadata["fiscal_year"] for node in nodes} == {2022}


def test_a_query_engine_shows_a_model_the_citations(index: Index) -> None:
    synthesizer = get_response_synthesizer(llm=MockLLM(), response_mode=ResponseMode.COMPACT)
    engine = RetrieverQueryEngine(FinrayRetriever(index, k=2), synthesizer)
    response = engine.query(QUERY)
    for node in response.source_nodes:
        assert f"citation: {node.metadata['citation']}" in str(response)  # MockLLM replies with its prompt
        assert node.metadata["filing_id"] not in str(response).replace(node.metadata["citation"], "")


def test_a_count_that_is_not_positive_is_refused(index: Index) -> None:
    with pytest.raises(UsageError, match="0 is not positive"):
        FinrayRetriever(index, k=0)

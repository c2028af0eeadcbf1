"""The LangChain retriever by LangChain's own standard tests, and its metadata."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core")
pytest.importorskip("langchain_tests.integration_tests")

from langchain_tests.integration_tests import RetrieversIntegrationTests

from finray.client import Client
from finray.core.errors import QuestionError
from finray.core.filing_filter import FilingFilter
from finray.index.reading.reader import IndexReader
from finray.integrations.langchain import FinrayRetriever
from finray.library import Index
from tests.integrations.conftest import QUERY


class TestStandard(RetrieversIntegrationTests):
    """LangChain's standard tests."""

    @pytest.fixture(autouse=True)
    def _with_index(self, index: Index) -> None:
        self._index = index

    @property
    def retriever_constructor(self) -> type[FinrayRetriever]:
        return FinrayRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"source": self._index}

    @property
    def retriever_query_example(self) -> str:
        return QUERY


def test_documents_cite_the_text_of_their_page(source: Index | Client, reader: IndexReader) -> None:
    documents = FinrayRetriever(source=source, k=4).invoke(QUERY)
    assert len({document.id for document in documents}) == 4
    for document in documents:
        found = document.metadata
        page = reader.page(found["filing_id"], found["page"])
        assert page is not None and page["text"][found["start"] : found["end"]] == document.page_content
        assert found["page_label"] == str(found["page"] + 1)
        assert found["citation"].endswith(f"({found['doc_name']}), p. {found['page_label']}")
        assert found["company"] in found["citation"] and found["form"] in found["citation"]
        assert ("/pages/" in found.get("link", "")) == isinstance(source, Client)


async def test_filings_narrow_what_is_found(index: Index) -> None:
    narrowed = FilingFilter(fiscal_years=(2021,), forms=("10-K",))
    retriever = FinrayRetriever(source=index, k=3, filings=narrowed)
    assert {document.metadata["fiscal_year"] for document in await retriever.ainvoke(QUERY)} == {2021}
    other = retriever.invoke(QUERY, filings=FilingFilter(fiscal_years=(2022,)))
    assert {document.metadata["fiscal_year"] for document in other} == {2022}


def test_a_blank_query_is_refused(index: Index) -> None:
    with pytest.raises(QuestionError):
        FinrayRetriever(source=index).invoke("  ")

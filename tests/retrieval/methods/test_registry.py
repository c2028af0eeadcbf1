"""What every method promises, whichever it is."""

from __future__ import annotations

import pytest

from finray.core.errors import SettingsError
from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.query import Query
from finray.index.reading.reader import IndexReader
from finray.retrieval.flat import WholeIndex
from finray.retrieval.methods.composed import method_named
from finray.retrieval.methods.registry import METHODS

from .conftest import Build

TEXT = "operating lease commitments not yet commenced undiscounted future payments"
NAME = "grevandor-systems-2022-10k"
COMPOSED = (
    "bm25+title",
    "dense+title+rerank",
    "rrf+title",
    "hybrid_search+title",
    "rq_rag_prompted+title",
    "page_scorer+title",
    "rrf+rerank+title+multi_hyde",
    "splade+query_expansion",
)
ALL = pytest.mark.parametrize(
    "name", [*(method.name for method in METHODS.values() if method.answers != "only"), *COMPOSED]
)


@ALL
async def test_passages_come_best_first_and_are_printed_where_they_say(
    search_with: Build, reader: IndexReader, name: str
) -> None:
    passages = await search_with(name)("Grevandor Systems 2022: " + TEXT, k=6)
    assert 0 < len(passages) <= 6
    scores = [p.score for p in passages]
    assert scores == sorted(scores, reverse=True)
    names = {filing.filing_id: filing.doc_name for filing in reader.filings()}
    pages = reader.pages({p.filing_id for p in passages}, ["filing_id", "page", "text"]).to_pylist()
    texts = {(row["filing_id"], row["page"]): row["text"] for row in pages}
    for passage in passages:
        assert passage.doc_name == names[passage.filing_id]
        assert passage.text == texts[passage.filing_id, passage.page][passage.start : passage.end]
    assert len({(p.filing_id, p.page, p.start) for p in passages}) == len(passages)


@ALL
async def test_given_filings_are_the_only_ones_searched(search_with: Build, reader: IndexReader, name: str) -> None:
    given = [Document(f, 1.0) for f in reader.filings() if f.doc_name == NAME]
    searcher = search_with(name)
    assert {p.doc_name for p in await searcher.inside(TEXT, given)} == {NAME}
    assert await searcher.inside(TEXT, []) == []


@ALL
@pytest.mark.parametrize("question", ["", "zzqx", '"', "a AND (b OR", "💸" * 50])
async def test_any_text_can_be_asked(search_with: Build, name: str, question: str) -> None:
    assert len(await search_with(name)(question, k=3)) <= 3


@ALL
async def test_only_flat_methods_leave_the_choice_of_filings_open(search_with: Build, name: str) -> None:
    query = Query("Grevandor Systems 2022", "Grevandor Systems 2022")
    documents = await search_with(name).retrieval.documents.documents(query, 3, Journal())
    assert isinstance(documents, WholeIndex) == method_named(name).flat
    assert method_named(name).flat or len(documents) == 3
    open_choice = search_with(name, retrieval__hierarchical=False).retrieval
    assert isinstance(await open_choice.documents.documents(query, 3, Journal()), WholeIndex)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "passage reranker" in method.needs])
def test_a_missing_reranker_is_an_error_that_names_the_setting(search_with: Build, name: str) -> None:
    with pytest.raises(SettingsError, match=rf"{name}.*passage_reranker\.model"):
        search_with(name, passage_reranker__model="")


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if {"chat model", "generator"} & {*method.needs}]
)
def test_a_missing_language_model_is_an_error_that_names_the_settings(search_with: Build, name: str) -> None:
    with pytest.raises(SettingsError, match=rf"'{name}' asks a language model.*llm\.base_url.*llm\.model"):
        search_with(name, chat=None, **({"loop__answerer": "method"} if METHODS[name].answers == "only" else {}))


def test_an_unknown_method_lists_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"'bm52' is unknown; choose from .*\bbm25\b"):
        method_named("bm52")


def test_methods_describe_themselves_in_a_line() -> None:
    for method in METHODS.values():
        assert method.description and method.source
        assert len(method.description) < 100


@pytest.mark.parametrize("name", METHODS)
def test_only_methods_that_answer_can_be_asked_to(search_with: Build, name: str) -> None:
    answers = METHODS[name].answers
    if answers == "no":
        with pytest.raises(SettingsError, match=rf"'{name}' writes no answers.*zero_shot"):
            search_with(name, loop__answerer="method")
    else:
        search_with(name, loop__answerer="method")
    if answers == "only":
        with pytest.raises(SettingsError, match=rf"'{name}' only answers; set loop.answerer=method"):
            search_with(name)

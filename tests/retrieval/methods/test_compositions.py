"""Methods composed by name: query writers, titles and rerankers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from finray.core.errors import SettingsError
from finray.core.settings import LlmSettings, load_settings
from finray.filings.cover.summary import filing_title
from finray.index.reading.reader import IndexReader
from finray.models.chat import ChatModel, Message
from finray.models.hash_encoder import HashEncoder
from finray.models.reranker import OverlapReranker
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.methods.composed import build_retrieval, method_named
from finray.retrieval.methods.hyde import SAMPLED_PROMPT
from finray.retrieval.methods.toolbox import Toolbox
from tests.scripted_chat import ScriptedChatModel

from .conftest import FAKES, Build, Searcher

TEXT = "operating lease commitments not yet commenced undiscounted future payments"
FILING = "Grevandor Systems annual report 10-K fiscal year 2022"
NAME = "grevandor-systems-2022-10k"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("bm52+title", r"'bm52\+title' is unknown; choose from .*\bbm25\b"),
        ("dense+titel", r"'dense\+titel': 'titel' is unknown after '\+'; choose from title, query_expansion, hyde"),
        ("dense+", "'' is unknown after"),
        ("dense+rerank+rerank", "'rerank' is there twice"),
        ("splade+title", r"\+title goes after one of bm25, dense, rrf, query_expansion"),
        ("hirec+rerank", "'hirec' chooses filings first"),
        ("ircot+hyde", r"a query writer \(query_expansion, hyde, multi_hyde\) goes after one of bm25, dense, splade"),
        ("rrf+hyde+multi_hyde", "one is enough"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(name: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        method_named(name)


def test_a_composition_needs_what_its_parts_need() -> None:
    assert method_named("multi_hyde+rerank").needs == ("chat model", "passage reranker")
    assert method_named("splade+hyde").needs == ("sparse encoder", "chat model")
    settings = load_settings(overrides=FAKES, environment={})
    names = [extension.name for extension in method_named("rrf+title+rerank").extensions(settings)]
    assert names == ["title_words", "title_vectors"]
    own = load_settings(overrides={**FAKES, "page_encoder.model": "hash", "page_encoder.store": "b"}, environment={})
    names = [extension.name for extension in method_named("page_scorer+title").extensions(own)]
    assert names == ["title_vectors", "page_scorer-b_titles"]


@pytest.mark.parametrize("name", ["bm25", "dense", "rrf", "page_scorer", "ircot"])
async def test_titles_say_which_filing_a_chunk_is_from(search_with: Build, name: str) -> None:

    async def found(method: str) -> int:
        return sum(passage.doc_name == NAME for passage in await search_with(method)(FILING, k=10))

    assert await found(f"{name}+title") > await found(name)


async def test_titles_order_the_chunks_of_the_filings_that_were_chosen(search_with: Build) -> None:
    plain, titled = await search_with("hhr")(FILING, k=10), await search_with("hhr+title")(FILING, k=10)
    assert titled and [p.text for p in titled] != [p.text for p in plain]


async def test_passages_keep_the_words_of_the_filing(search_with: Build) -> None:
    for name in ("bm25+title", "dense+title", "page_scorer+title+rerank"):
        assert not any("form 10-K, annual report" in p.text for p in await search_with(name)(FILING))


async def test_a_reranker_orders_the_first_candidates_by_the_question(search_with: Build) -> None:
    plain = await search_with("dense")(TEXT, k=20)
    scores = OverlapReranker().scores(TEXT, [passage.text for passage in plain])
    expected = [plain[at] for at in np.argsort(-scores, kind="stable")[:5]]
    found = await search_with("dense+rerank")(TEXT, k=5)
    assert [(p.filing_id, p.page, p.start) for p in found] == [(p.filing_id, p.page, p.start) for p in expected]
    assert [p.score for p in found] == sorted((float(score) for score in scores), reverse=True)[:5]
    few = await search_with("dense+rerank", methods__rerank__candidates=2)(TEXT, k=2)
    assert {p.text for p in few} == {p.text for p in plain[:2]}


async def test_a_reranker_reads_the_titles_too(search_with: Build, reader: IndexReader) -> None:
    found = await search_with("dense+title+rerank")(FILING, k=3)
    titles = {filing.filing_id: filing_title(filing) for filing in reader.filings()}
    read = [titles[passage.filing_id] + passage.text for passage in found]
    assert [p.score for p in found] == pytest.approx(OverlapReranker().scores(FILING, read).tolist())


async def test_words_are_searched_for_what_a_writer_imagined(search_with: Build) -> None:
    model = ScriptedChatModel(lambda messages: {"passages": [TEXT]})
    found = await search_with("bm25+hyde", model, methods__hyde__with_question=False)("anything")
    expected = await search_with("bm25")(TEXT)
    assert [p.text for p in found] == [p.text for p in expected]


async def test_both_rankings_of_a_fusion_share_one_request(search_with: Build) -> None:
    model = ScriptedChatModel(lambda messages: {"passages": [TEXT]})
    await search_with("rrf+multi_hyde+rerank", model)("anything")
    assert len(model.calls) == 1


@pytest.mark.parametrize(("name", "requests"), [("hyde", 1), ("multi_hyde+rerank", 4)])
async def test_sampled_passages_are_requests_of_their_own(reader: IndexReader, name: str, requests: int) -> None:
    asked: list[LlmSettings] = []
    model = ScriptedChatModel(lambda messages: TEXT)

    def load(llm: LlmSettings) -> ChatModel:
        asked.append(llm)
        return model

    sampled = {f"methods.{name.partition('+')[0]}.sampled": True, "retrieval.method": name}
    settings = load_settings(overrides={**FAKES, **sampled}, environment={})
    tools = Toolbox(reader, HashEncoder(), CompanyCatalog(reader.filings()), model, settings, load_chat=load)
    found = await Searcher(build_retrieval(tools), 3)("What leases?")
    assert TEXT.split()[0] in found[0].text
    assert [(llm.temperature, llm.max_tokens, llm.seed) for llm in asked] == [(0.7, 200, n) for n in range(requests)]
    assert [_only(call) for call in model.calls] == [SAMPLED_PROMPT.format(question="What leases?")] * requests
    assert len({llm.model_copy(update={"replay_cache": "x"}).identity()["seed"] for llm in asked}) == requests


def _only(messages: Sequence[Message]) -> str:
    (message,) = messages
    return message.content

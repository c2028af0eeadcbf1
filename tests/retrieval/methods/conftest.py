from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.core.settings import load_settings
from finray.index.extensions.update import extend_index
from finray.index.reading.reader import IndexReader
from finray.models.chat import ChatModel, Message
from finray.models.encoder import QueryCache
from finray.models.hash_encoder import HashEncoder
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.methods import fingear, lightrag_rules, raptor, splade
from finray.retrieval.methods.composed import build_retrieval, method_named
from finray.retrieval.methods.lightrag import graph_extension
from finray.retrieval.methods.toolbox import Retrieval, Toolbox
from tests.scripted_chat import ScriptedChatModel
from tests.weightless import WEIGHTLESS

FAKES = {
    **WEIGHTLESS,
    "document_reranker.model": "overlap",
    "passage_reranker.model": "overlap",
    "sparse_encoder.model": "hash",
    "methods.hirec.summaries": "facts",
    # Small trees: the sample's Items have few pages.
    "methods.fingear.reduction": "spectral",
    "methods.fingear.dimension": 2,
    "methods.raptor.reduction": "spectral",
    "methods.raptor.dimension": 4,
    "methods.raptor.max_clusters": 4,
}


_NAMES = ("operating lease", "revenue", "net income", "total assets", "risk", "dividends")


def imagine(messages: Sequence[Message]) -> str | dict[str, object]:
    """A fake model: it imagines passages that repeat the question, finds a few names, and reasons in one sentence."""
    asked = messages[0].content
    if asked.startswith("You write text"):
        return {"passages": [messages[1].content, f"Lease commitments. {messages[1].content}"]}
    if asked.startswith("You extract keywords"):
        return {"high_level_keywords": [messages[1].content], "low_level_keywords": ["lease commitments"]}
    if asked.startswith("You extract a knowledge graph"):
        names = [name for name in _NAMES if name in messages[1].content]
        entities = [f"entity<|>{name}<|>concept<|>{name} on this page" for name in names]
        related = [f"relation<|>{a}<|>{b}<|>{a} and {b}<|>leases<|>5" for a, b in itertools.pairwise(names)]
        return "\n".join((*entities, *related, "<|COMPLETE|>"))
    return "So the answer is: unknown."


@dataclass(frozen=True)
class Searcher:
    """One method over the sample, asked as the loop asks it."""

    retrieval: Retrieval
    k_documents: int

    async def __call__(self, question: str, k: int = 5, journal: Journal | None = None) -> list[Passage]:
        query, journal = Query(question, question), journal or Journal()
        documents = await self.retrieval.documents.documents(query, self.k_documents, journal)
        return list(await self.retrieval.passages.passages(query, documents, k, journal))

    async def inside(self, question: str, documents: list[Document], k: int = 5) -> list[Passage]:
        """Told the documents, as by an oracle."""
        return list(await self.retrieval.passages.passages(Query(question, question), documents, k, Journal()))


Build = Callable[..., Searcher]


@pytest.fixture(scope="session")
def search_with(reader: IndexReader) -> Build:
    """``search_with(name, chat, **settings)``: a method with fakes for the models it needs."""
    settings = load_settings(overrides=FAKES, environment={})
    graphs = (lightrag_rules.extension(settings), graph_extension("lightrag", settings, ScriptedChatModel(imagine)))
    trees = (fingear.extension(settings), raptor.extension(settings), *graphs)
    for extension in (splade.extension(settings), *trees, *method_named("rrf+title").extensions(settings)):
        extend_index(reader, extension)

    def build(name: str, chat: ChatModel | None = ScriptedChatModel(imagine), **overrides: Any) -> Searcher:  # noqa: B008
        dotted = {key.replace("__", "."): value for key, value in overrides.items()}
        settings = load_settings(overrides={**FAKES, "retrieval.method": name, **dotted}, environment={})
        catalog = CompanyCatalog(reader.filings())
        tools = Toolbox(reader, QueryCache(HashEncoder()), catalog, chat, settings)
        return Searcher(build_retrieval(tools), settings.retrieval.k_documents)

    return build

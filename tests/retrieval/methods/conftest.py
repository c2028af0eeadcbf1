from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.settings import load_settings
from finray.core.types import Document, Passage
from finray.index.extensions import extend_index
from finray.index.reader import IndexReader
from finray.models.chat import ChatModel, Message, ScriptedChatModel
from finray.models.hash_encoder import HashEncoder
from finray.models.query_cache import QueryCache
from finray.question.companies import CompanyCatalog
from finray.retrieval.methods import splade
from finray.retrieval.methods.registry import build_retrieval
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

FAKES = {
    "encoder.model": "hash",
    "document_reranker.model": "overlap",
    "passage_reranker.model": "overlap",
    "sparse_encoder.model": "hash",
}


def imagine(messages: Sequence[Message]) -> str | dict[str, object]:
    """A fake model: it imagines passages that repeat the question, and reasons in one sentence."""
    if messages[0].content.startswith("You write text"):
        return {"passages": [messages[1].content, f"Lease commitments. {messages[1].content}"]}
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
    extend_index(reader, splade.extension(load_settings(overrides=FAKES, environment={})))

    def build(name: str, chat: ChatModel | None = ScriptedChatModel(imagine), **overrides: Any) -> Searcher:  # noqa: B008
        dotted = {key.replace("__", "."): value for key, value in overrides.items()}
        settings = load_settings(overrides={**FAKES, "retrieval.method": name, **dotted}, environment={})
        catalog = CompanyCatalog(reader.filings())
        tools = Toolbox(reader, QueryCache(HashEncoder()), catalog, chat, settings)
        return Searcher(build_retrieval(tools), settings.retrieval.k_documents)

    return build

"""Inputs and result of building a retrieval method."""

from __future__ import annotations

from dataclasses import dataclass

from finray.core.errors import SettingsError
from finray.core.roles import DocumentRetriever, PassageRetriever
from finray.core.settings import RerankerSettings, Settings
from finray.index.reader import IndexReader
from finray.models.chat import ChatModel
from finray.models.encoder import Encoder
from finray.models.reranker import Reranker, RerankerLoader, load_reranker
from finray.question.companies import CompanyCatalog


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The two roles of a method. A flat one has no document stage: its ``documents`` is ``AllDocuments``."""

    documents: DocumentRetriever
    passages: PassageRetriever


@dataclass(frozen=True, slots=True)
class Toolbox:
    """``encoder`` is the one that built the index; ``chat`` is None if no language model is set up."""

    reader: IndexReader
    encoder: Encoder
    catalog: CompanyCatalog
    chat: ChatModel | None
    settings: Settings
    rerankers: RerankerLoader = load_reranker

    def chat_model(self) -> ChatModel:
        """Raises SettingsError if there is none."""
        if self.chat is None:
            raise SettingsError(
                f"retrieval.method = {self.settings.retrieval.method!r} asks a language model and none is set; "
                "name an OpenAI-compatible server in llm.base_url and its model in llm.model"
            )
        return self.chat

    def document_reranker(self) -> Reranker:
        """Raises SettingsError if the settings name none."""
        return self._reranker("document_reranker", self.settings.document_reranker)

    def passage_reranker(self) -> Reranker:
        """Raises SettingsError if the settings name none."""
        return self._reranker("passage_reranker", self.settings.passage_reranker)

    def _reranker(self, name: str, chosen: RerankerSettings) -> Reranker:
        if not chosen.model:
            raise SettingsError(
                f"retrieval.method = {self.settings.retrieval.method!r} needs {name}.model; "
                "name a cross-encoder, as a folder or on the hub"
            )
        return self.rerankers(chosen)

"""Inputs and result of building a retrieval method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from finray.core.errors import SettingsError
from finray.core.roles import DocumentRetriever, PassageRetriever
from finray.core.settings import LlmSettings, RerankerSettings, Settings
from finray.index.reading.reader import IndexReader
from finray.models.chat import ChatModel
from finray.models.encoder import Encoder
from finray.models.reranker import Reranker, RerankerLoader, load_reranker
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.flat import AllDocuments


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The two roles of a method; ``documents`` of a flat one is ``AllDocuments``."""

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
    load_chat: Callable[[LlmSettings], ChatModel] | None = None
    """Loads ``chat`` with other sampling settings; None if ``chat`` is not the model of the settings."""
    generator: ChatModel | None = None
    """The language model of ``answer_llm``; None if there is only ``chat``."""
    titled: bool = False
    """Whether chunks are searched with their filing's title before them (``+title``)."""

    @property
    def answers(self) -> bool:
        """Whether the method is to answer too."""
        return self.settings.loop.answerer == "method"

    def flat(self, passages: PassageRetriever) -> Retrieval:
        """A method without a document stage."""
        return Retrieval(AllDocuments(self.reader), passages)

    def chat_model(self, **sampling: float) -> ChatModel:
        """The language model, with other ``sampling`` settings of ``llm``. Raises SettingsError if there is none."""
        if self.chat is None:
            raise SettingsError(
                f"retrieval.method = {self.settings.retrieval.method!r} asks a language model and none is set; "
                "name an OpenAI-compatible server in llm.base_url and its model in llm.model"
            )
        if sampling and self.load_chat is not None:
            return self.load_chat(self.settings.llm.model_copy(update=sampling))
        return self.chat

    def generator_model(self) -> ChatModel:
        """The language model that writes answers. Raises SettingsError if there is none."""
        return self.generator or self.chat_model()

    def reranker(self, name: Literal["document_reranker", "passage_reranker"]) -> Reranker:
        """The cross-encoder of these settings. Raises SettingsError if they name none."""
        chosen: RerankerSettings = getattr(self.settings, name)
        if not chosen.model:
            raise SettingsError(
                f"retrieval.method = {self.settings.retrieval.method!r} needs {name}.model; "
                "name a cross-encoder, as a folder or on the hub"
            )
        return self.rerankers(chosen)

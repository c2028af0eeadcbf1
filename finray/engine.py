"""Builds the engine, which answers questions, from settings and an open index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from finray.answering.confidence import load_confidence_model
from finray.answering.guard import GuardedAnswerer
from finray.answering.planned import PlannedAnswerer
from finray.answering.statements import StatementAnswerer
from finray.core.filing_filter import FilingFilter
from finray.core.journal import Journal, Observer
from finray.core.query import Query
from finray.core.question_fields import read_question
from finray.core.roles import Answerer, Curator, NoAnswerer, QuestionReader, Roles
from finray.core.settings import Settings
from finray.core.types import Document, Passage, Prediction, Question
from finray.hirec.llm_answerer import LlmAnswerer
from finray.hirec.llm_roles import LlmCurator, LlmReader
from finray.hirec.loop import answer_question, retrieve
from finray.hirec.rule_curator import RuleCurator
from finray.index.facts import FilingFacts
from finray.index.reader import IndexReader
from finray.models.chat import ChatModel
from finray.models.encoder import Encoder, load_encoder
from finray.models.load_chat import load_chat
from finray.models.query_cache import QueryCache
from finray.models.reranker import RerankerLoader, load_reranker
from finray.question.companies import CompanyCatalog
from finray.question.rule_reader import PlainReader, RuleReader
from finray.retrieval.methods.registry import build_retrieval, method_named
from finray.retrieval.methods.toolbox import Toolbox
from finray.retrieval.narrowed import NarrowedDocuments
from finray.retrieval.oracle import GoldDocuments, GoldPages
from finray.retrieval.unidentified import UnidentifiedFilings
from finray.sandbox.runner import Sandbox


class Engine:
    """Answers questions over one version of one index."""

    def __init__(self, roles: Roles, reader: IndexReader, settings: Settings) -> None:
        self.roles = roles
        self.reader = reader
        self.settings = settings

    async def answer(
        self, question: Question, observer: Observer | None = None, narrowed: FilingFilter | None = None
    ) -> Prediction:
        """Answer ``question`` from the filings that match ``narrowed``, by default from all.

        If a role fails or the question is not text, the prediction has status "error"; this does not raise.
        """
        roles = self._narrowed(narrowed)
        oracle = self.settings.retrieval.oracle
        if oracle != "none":
            roles = replace(roles, documents=GoldDocuments(self.reader, question.evidence))
        if oracle == "page":
            roles = replace(roles, passages=GoldPages(self.reader, question.evidence))
        return await answer_question(question, roles, self.settings, observer)

    async def retrieve(
        self,
        question: str,
        observer: Observer | None = None,
        narrowed: FilingFilter | None = None,
        *,
        k_documents: int | None = None,
        k_passages: int | None = None,
    ) -> tuple[Query, Sequence[Document], Sequence[Passage]]:
        """The first retrieval of the loop. Raises FinrayError, such as QuestionError for a non-text question."""
        k = self.settings.retrieval
        wanted = {"k_documents": k_documents or k.k_documents, "k_passages": k_passages or k.k_passages}
        settings = self.settings.model_copy(update={"retrieval": k.model_copy(update=wanted)})
        asked = read_question(question, settings.bulk.max_question_characters)
        return await retrieve(asked, 0, self._narrowed(narrowed), settings, Journal(observer))

    def _narrowed(self, narrowed: FilingFilter | None) -> Roles:
        if narrowed is None or narrowed.is_empty:
            return self.roles
        return replace(self.roles, documents=NarrowedDocuments(self.roles.documents, self.reader, narrowed))


def open_engine(
    index_uri: str, settings: Settings, *, encoder: Encoder | None = None, chat: ChatModel | None = None
) -> Engine:
    """An engine over the index at ``index_uri``.

    ``encoder`` and ``chat`` replace the models of the settings (by a Ray Serve handle or a fake). Raises
    IndexMissingError, IndexMismatchError if the index was built with another encoder, ModelUnavailableError.
    """
    reader = IndexReader.open(index_uri, settings)
    # One thread: a question has a few dozen tokens, and bulk answering runs one engine on each CPU.
    encoder = encoder or load_encoder(settings.encoder, threads=1)
    return build_engine(reader, settings, encoder=encoder, chat=chat)


def asks_llm(settings: Settings) -> bool:
    """Whether answering a question calls a language model."""
    return settings.loop.asks_llm or "chat model" in method_named(settings.retrieval.method).needs


def build_engine(
    reader: IndexReader,
    settings: Settings,
    *,
    encoder: Encoder,
    chat: ChatModel | None = None,
    rerankers: RerankerLoader = load_reranker,
) -> Engine:
    """An engine with the roles that ``settings`` choose, over an open reader."""
    encoder = QueryCache(encoder)
    catalog = CompanyCatalog(reader.filings())
    facts = FilingFacts(reader, catalog)
    loop = settings.loop
    needed = "chat model" in method_named(settings.retrieval.method).needs and settings.llm.model
    model = chat
    if model is None and (needed or "llm" in (loop.transform, loop.curator, loop.answerer)):
        model = load_chat(settings.llm)
    retrieval = build_retrieval(Toolbox(reader, encoder, catalog, model, settings, rerankers))
    rules = RuleReader(catalog, UnidentifiedFilings(reader, catalog).with_unidentified)
    readers: dict[str, QuestionReader] = {"rules": rules, "none": PlainReader()}
    curators: dict[str, Curator] = {"rules": RuleCurator(facts, loop.max_kept)}
    confidence = load_confidence_model(loop.confidence_model)
    statements = GuardedAnswerer(PlannedAnswerer(StatementAnswerer(facts, encoder), facts), facts, encoder, confidence)
    answerers: dict[str, Answerer] = {"statements": statements, "none": NoAnswerer()}
    if model is not None:
        readers["llm"] = LlmReader(model, rules)
        curators["llm"] = LlmCurator(model, curators["rules"])
        if loop.answerer == "llm":
            answerers["llm"] = GuardedAnswerer(
                LlmAnswerer(model, Sandbox(settings.sandbox)),
                facts,
                confidence=confidence if loop.confidence_model else None,
            )
    roles = Roles(
        reader=readers[loop.transform],
        documents=retrieval.documents,
        passages=retrieval.passages,
        curator=curators[loop.curator],
        answerer=answerers[loop.answerer],
    )
    return Engine(roles, reader, settings)
